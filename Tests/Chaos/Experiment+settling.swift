import Bus
import TestSupport

extension Experiment {
    /// How long entries may follow to the audit log.
    private static let auditTimeout = Duration.seconds(240)
    /// How long a push about a session may take to be in the message log. There it may have to wait for a retry.
    private static let studyTimeout = Duration.seconds(240)

    /// The archive, once every message has ended or is overdue.
    func settledArchive(_ portal: Portal) async throws -> [String: ArchivedMessage] {
        var archive: [String: ArchivedMessage] = [:]
        for message in try await portal.archive() { archive[message.msiKey] = message }
        let deadline = ContinuousClock.now + Self.settlingTimeout
        var said = -1
        var due = DueTimes<String>()
        while true {
            let open = archive.values.filter { !$0.isFinal }
            for message in open { due.note(message.msiKey, due: max(message.nextAttempt ?? 0, message.leaseEnd ?? 0)) }
            let isOverdue = open.contains { due.isOverdue($0.msiKey, by: Self.maxOverdue) }
            if open.isEmpty || isOverdue || ContinuousClock.now >= deadline { return archive }
            if open.count != said { journal.say("\(open.count) of \(archive.count) messages are still on their way") }
            said = open.count
            try await Task.sleep(for: .seconds(1))
            for message in open { archive[message.msiKey] = try await portal.archived(message.msiKey) }
        }
    }

    /// The audit log, once it has all entries, or some are overdue.
    func settledAudit(_ people: CommandClient, _ evidence: Evidence) async throws -> AuditEvidence {
        let deadline = ContinuousClock.now + Self.auditTimeout
        while true {
            let audit = try await AuditEvidence(of: people)
            let verdict = AuditVerdict(
                audit, accepted: evidence.accepted.map(\.msiKey), archive: evidence.archive.mapValues(\.state),
                interventions: evidence.interventions)
            let broadcasts = BroadcastVerdict(
                sent: evidence.sentBroadcasts, logged: evidence.loggedBroadcasts, audit: audit, phones: nil)
            let cube = CubeVerdict(evidence.cubeEdits, cube: evidence.cube, audit: audit)
            let study = evidence.study.map { StudyVerdict.problems(ofAudit: audit.entries, $0) } ?? []
            let isComplete = (verdict.problems + broadcasts.problems + cube.problems + study).isEmpty
            if isComplete || ContinuousClock.now >= deadline { return audit }
            try await Task.sleep(for: .seconds(2))
        }
    }
}

extension Experiment {
    /// What holds of the people who studied, once all pushes are as they should be, or the time is over; `nil` if there were none.
    func settledStudy(_ study: StudyTraffic, _ deployment: Deployment, _ clients: Clients) async throws -> StudyEvidence? {
        let injectedFaults = deployment.parts.flatMap(\.injectedFaults) + deployment.machine.injectedFaults
        let steps = injectedFaults.filter { $0.action.clockOffset != 0 }.map { $0.began...$0.ended }
        guard var evidence = try await study.evidence(steps: steps) else { return nil }
        evidence.injectedFaults = injectedFaults
        evidence.storing = store.storing
        evidence.plan = StudyVariety.Plan(
            length: length, people: StudyTraffic.people(studying), period: store.period * Self.postsPerStudy)
        journal.say("the people who study have had \(study.answers) answers")
        let begin = ContinuousClock.now
        while true {
            try await evidence.readPushes(of: clients.services.messageLogs, clients.fcm.acceptedSends())
            let timeout = evidence.pushes.allSatisfy(\.hasEnded) ? Self.studyTimeout : Self.settlingTimeout
            if StudyVerdict(evidence).problems.isEmpty || ContinuousClock.now - begin >= timeout { return evidence }
            try await Task.sleep(for: .seconds(5))
        }
    }
}

/// Since when items have been due, on a monotonic clock. The machine's clock was set, and may be an hour off. Pure.
struct DueTimes<Key: Hashable & Sendable>: Sendable {
    private var items: [Key: (moment: Int64, since: ContinuousClock.Instant)] = [:]

    /// Notes when an item is due. Its time begins when its moment has come, and again if it has another moment.
    ///
    /// - Parameters:
    ///   - moment: In Unix milliseconds.
    ///   - wall: The wall clock, in Unix milliseconds.
    mutating func note(
        _ key: Key, due moment: Int64, wall: Int64 = .nowInMilliseconds, now: ContinuousClock.Instant = .now
    ) {
        if moment >= wall || items[key]?.moment != moment { items[key] = (moment, now) }
    }

    /// Whether an item has been due for longer than a limit.
    func isOverdue(_ key: Key, by limit: Duration, now: ContinuousClock.Instant = .now) -> Bool {
        items[key].map { now - $0.since > limit } ?? false
    }
}

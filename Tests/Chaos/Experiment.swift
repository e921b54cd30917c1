import CommandBus
import FoundationEssentials
import JSON
import NIOHTTP1
import TestSupport

/// One run: the product under traffic and faults, until every message has ended and can be checked.
struct Experiment: Sendable {
    let store: Store
    let length: Duration
    let seed: UInt64
    /// The number of phones with the students' app; 0 for none.
    let phones: Int
    /// Another version, which runs beside this one.
    let other: OtherVersion?
    /// The state directory, which exists and is empty.
    let folder: String
    let journal: Journal

    private static let clients = 16
    private static let subjects = 16
    /// The levels of the first subjects, to which the phones subscribe. The others are Optional: with all of them, the phones would
    /// be most of the load.
    private static let levels = ["Forced", "Recommended"]
    /// The communicator of broadcasts makes one request while a portal makes this many posts.
    private static let postsPerBroadcast = 4
    /// The number of programs that log pushes.
    private static let programs = 4
    /// The number of phones that they push to.
    private static let pushedPhones = 5
    /// How long a portal retries: longer than any outage.
    private static let retryTimeout = Duration.seconds(120)
    /// How long the product may take to be healthy after the last fault.
    private static let recoveryTimeout = Duration.seconds(60)
    /// How long a message or a push may be overdue at the end. Retries happen within this time.
    private static let maxOverdue = Duration.seconds(60)
    /// The maximum wait for a retry, and a minute more.
    private static let settlingTimeout = Duration.seconds(11 * 60)

    /// How long entries may follow to the audit log.
    private static let auditTimeout = Duration.seconds(60)

    /// The machine's disk, in megabytes.
    private static let diskSize = 512

    /// - Throws: An error that prevents a verdict, such as a process that cannot be started.
    func run() async throws -> Verdict {
        guard SmallDisk.isPossible else { return try await run(disk: nil) }
        return try await SmallDisk.with(megabytes: Self.diskSize) { disk in
            let verdict = try await run(disk: disk)
            // The disk is about to be unmounted.
            if !verdict.isGood { try FileManager.default.copyItem(atPath: disk.folder, toPath: folder + "/disk") }
            return verdict
        }
    }

    private func run(disk: SmallDisk?) async throws -> Verdict {
        let machine = try await Machine(disk: disk, in: folder, journal: journal)
        let resolver = try await PreloadedLibrary.build("resolver", FCMPath.resolver, in: folder)
        let emulatorPort = try FreePort.choose()
        return try await withTCPProxy(to: emulatorPort) { first in
            try await withTCPProxy(to: emulatorPort) { second in
                var paths: [Part: FCMPath] = [:]
                for (relay, proxy) in zip(Part.relays, [first, second]) {
                    paths[relay] = FCMPath(proxy: proxy, hangingFile: "\(folder)/\(relay.name)-resolver-hangs")
                }
                return try await runAndEnd(
                    try Deployment(
                        in: folder, store: store, emulatorPort: emulatorPort, machine: machine, paths: paths, resolver: resolver,
                        other: other, seed: seed, journal: journal))
            }
        }
    }

    private func runAndEnd(_ deployment: Deployment) async throws -> Verdict {
        let outcome: Result<Verdict, any Error>
        do {
            outcome = .success(try await run(deployment))
        } catch {
            outcome = .failure(error)
        }
        // Also when the task is cancelled.
        await Task { await deployment.end() }.value
        return try outcome.get()
    }

    private func run(_ deployment: Deployment) async throws -> Verdict {
        try await deployment.start()
        journal.say("\(deployment.parts.count) processes are up in \(folder)")
        var evidence = Evidence()
        try await deployment.withClients { portal, fcm in
            try await deployment.withServices { messageLogs, people in
                let clients = Clients(portal: portal, fcm: fcm, messageLogs: messageLogs, people: people)
                try await observe(deployment, clients, &evidence)
            }
        }
        await deployment.stop()
        journal.say("everything is stopped")
        if let changes = deployment.versionChanges { journal.say(changes) }
        evidence.disturbances += deployment.machine.disturbances
        try collect(from: deployment.parts, into: &evidence)
        evidence.logLines = ServiceLogs(files: deployment.parts.flatMap(\.logFiles)).lines
        return Verdict(evidence)
    }

    private struct Clients {
        let portal: Portal
        let fcm: FCMServer
        let messageLogs: CommandClient
        let people: CommandClient
    }

    /// Posts messages and logs pushes during the faults, and reads what FCM and the phones have at the end.
    private func observe(_ deployment: Deployment, _ clients: Clients, _ evidence: inout Evidence) async throws {
        let subjects = try await makeSubjects(clients.portal)
        let held = try await makeHeldSubject(clients.portal)
        evidence.phones = try await deployment.withPhones(phones) {
            try await post(to: subjects, held, deployment, clients, &evidence)
            journal.say("everything has ended")
        }
        for subject in subjects + [held] {
            let sends = try await clients.fcm.acceptedComponents(to: subject.topicKey)
            for send in sends { evidence.sends[send.component, default: []].append(send) }
            guard subject == held || subjects.prefix(Self.levels.count).contains(subject) else { continue }
            evidence.phones?.sent.formUnion(sends.map(\.component).filter { $0.name == "data" }.map(\.msiKey))
        }
        evidence.pushSends = try await clients.fcm.acceptedPushes()
    }

    /// Posts messages and logs pushes during the faults, and waits until all of them have ended.
    private func post(
        to subjects: [SubjectPath], _ held: SubjectPath, _ deployment: Deployment, _ clients: Clients, _ evidence: inout Evidence
    ) async throws {
        let portal = clients.portal
        let interventions = Interventions(portal: portal, second: try await Communicator("ben", portal))
        let mix = PostMix(
            seed: seed, subjects: subjects, held: held, template: try await makeTemplate(portal), latest: { interventions.latest }
        ) { deployment.machine.isClockSteady }
        let traffic = Traffic(portal: portal, retryTimeout: Self.retryTimeout, diskMayBeFull: true, next: mix.post)
        let pushMix = PushMix(seed: seed, tokens: try await registerPhones(at: clients.fcm))
        let pushes = PushTraffic(client: clients.messageLogs, mix: pushMix, retryTimeout: Self.retryTimeout)
        let broadcasts = BroadcastTraffic(portal: portal, seed: seed, retryTimeout: Self.retryTimeout)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await traffic.run(clients: Self.clients, every: store.period) }
            group.addTask { try await pushes.run(clients: Self.programs, every: store.period) }
            group.addTask { try await interventions.run() }
            group.addTask { try await broadcasts.run(every: store.period * Self.postsPerBroadcast) }
            try await harm(deployment)
            journal.say("the last fault is over")
            try await recover(deployment, portal, traffic)
            traffic.stop()
            pushes.stop()
            broadcasts.stop()
            interventions.stop()
            try await group.waitForAll()
        }
        journal.say("posted \(traffic.posts), tried again \(traffic.retries) times, accepted \(traffic.accepted.count)")
        journal.say("accepted \(pushes.accepted.count) pushes")
        evidence.accepted = traffic.accepted
        evidence.problems += traffic.surprises.map { "an answer that no portal should get: \($0)" }
        evidence.problems += pushes.surprises.map { "an answer that no program should get: \($0)" }
        evidence.problems += interventions.surprises.map { "an answer that no person should get: \($0)" }
        evidence.problems += broadcasts.surprises.map { "an answer that no communicator should get: \($0)" }
        evidence.refusals = traffic.refusals
        evidence.interventions = interventions.done
        evidence.archive = try await settledArchive(portal)
        evidence.acceptedPushes = pushes.accepted
        evidence.storedPushes = try await pushes.settled(maxOverdue: Self.maxOverdue, within: Self.settlingTimeout)
        evidence.sentBroadcasts = broadcasts.sent
        evidence.loggedBroadcasts = try await broadcasts.settled(within: Self.settlingTimeout)
        evidence.audit = try await settledAudit(clients.people, evidence)
    }

    /// - Returns: The registration tokens.
    private func registerPhones(at fcm: FCMServer) async throws -> [String] {
        var tokens: [String] = []
        for _ in 0..<Self.pushedPhones {
            let answer = try await fcm.call(.POST, "/emulator/devices")
            guard answer.status == 201, let token = try answer.json["token"]?.string else {
                throw UnexpectedAnswer(answer)
            }
            tokens.append(token)
        }
        return tokens
    }

    private func makeSubjects(_ portal: Portal) async throws -> [SubjectPath] {
        var subjects: [SubjectPath] = []
        for number in 0..<Self.subjects {
            let level = number < Self.levels.count ? Self.levels[number] : ""
            subjects.append(try await portal.makeSubject(number.isMultiple(of: 2) ? "Alert" : "Information", level: level))
        }
        return subjects
    }

    /// A subject whose messages need an approval.
    private func makeHeldSubject(_ portal: Portal) async throws -> SubjectPath {
        let subject = try await portal.makeSubject("Alert", level: "Forced")
        let path = "/approval/\(subject.channel)/\(subject.area)/\(subject.subject)"
        let answer = try await portal.call(.PUT, path, ["approval": true])
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return subject
    }

    /// - Returns: The id of a template with the blank `number`.
    private func makeTemplate(_ portal: Portal) async throws -> String {
        let template: JSONValue = [
            "name": "Chaos", "title": "{{number}}", "desc": "The library", "message": "The library stays closed: {{number}}.",
        ]
        let answer = try await portal.call(.POST, "/template", template)
        guard answer.status == 201, let id = try answer.json["_id"]?.string else { throw UnexpectedAnswer(answer) }
        return id
    }

    /// The audit log, once it has all entries, or some are overdue.
    private func settledAudit(_ people: CommandClient, _ evidence: Evidence) async throws -> AuditEvidence {
        let deadline = ContinuousClock.now + Self.auditTimeout
        while true {
            let audit = try await AuditEvidence(of: people)
            let verdict = AuditVerdict(
                audit, accepted: evidence.accepted.map(\.msiKey), archive: evidence.archive.mapValues(\.state),
                interventions: evidence.interventions)
            let broadcasts = BroadcastVerdict(
                sent: evidence.sentBroadcasts, logged: evidence.loggedBroadcasts, audit: audit, phones: nil)
            if verdict.problems.isEmpty && broadcasts.problems.isEmpty || ContinuousClock.now >= deadline { return audit }
            try await Task.sleep(for: .seconds(2))
        }
    }

    private func harm(_ deployment: Deployment) async throws {
        let schedule = Schedule(
            seed: seed, length: length, parts: deployment.parts.map(\.part) + [.machine], mixed: other?.parts ?? [])
        let begin = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in deployment.parts {
                group.addTask {
                    try await part.inject(schedule.faults.filter { $0.part == part.part }, from: begin)
                    try await part.keepRunning(until: begin + length)
                }
            }
            group.addTask {
                try await deployment.machine.inject(
                    schedule.faults.filter { $0.part == .machine }, from: begin, deployment.parts.filter { $0.part.isOnMachine })
            }
            try await group.waitForAll()
        }
    }

    /// Waits until the product is healthy and accepts messages.
    private func recover(_ deployment: Deployment, _ portal: Portal, _ traffic: Traffic) async throws {
        try await eventually("a healthy product", within: Self.recoveryTimeout, every: .milliseconds(200)) {
            for part in deployment.parts { try await part.mend() }
            return await portal.isHealthy()
        }
        try await traffic.accepts(more: 2 * Self.clients, within: Self.recoveryTimeout)
    }

    /// The archive, once every message has ended or is overdue.
    private func settledArchive(_ portal: Portal) async throws -> [String: ArchivedMessage] {
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

    private func collect(from parts: [RunningPart], into evidence: inout Evidence) throws {
        for part in parts {
            evidence.disturbances += part.disturbances
            evidence.failedStarts += part.failedStarts
            evidence.problems += part.problems
            guard Part.relays.contains(part.part) else { continue }
            let clock = MachineClock(evidence.disturbances)
            for log in try part.logFiles.map({ try RelayLog(path: $0, clock: clock) }) {
                for component in log.unfinished { evidence.unfinished[component, default: []].insert(part.part) }
                for (name, time) in log.acceptances { evidence.acceptances[name] = Observation(relay: part.part, time: time) }
                for (component, times) in log.failures {
                    evidence.failures[component, default: []] += times.map { Observation(relay: part.part, time: $0) }
                }
            }
        }
    }
}

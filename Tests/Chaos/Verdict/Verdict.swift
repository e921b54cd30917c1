import Schemas
import TestSupport

/// The conclusion from the evidence. Pure.
struct Verdict: Sendable {
    private(set) var accepted = 0
    /// Accepted messages whose components FCM has all accepted.
    private(set) var delivered = 0
    /// Accepted messages that have ended otherwise, with a reason.
    private(set) var failed = 0
    /// Accepted messages that are neither.
    private(set) var lost = 0
    /// Components that FCM has more than once.
    private(set) var doubled = 0
    /// The number of copies in addition to the one in the archive, by explanation.
    private(set) var explained: [String: Int] = [:]
    let pushes: PushVerdict
    let broadcasts: BroadcastVerdict
    let cube: CubeVerdict
    let audit: AuditVerdict?
    let phones: PhoneVerdict?
    let browsers: BrowserVerdict?
    let students: StudentVerdict?
    let study: StudyVerdict?
    /// All problems: losses, and events without an explanation.
    private(set) var problems: [String]

    /// The messages whose problems are listed with log lines.
    private var withLog: Set<String> = []
    /// Of the messages with problems, this many are listed with log lines.
    private static let maxWithLog = 5

    /// The maximum duration of a send on a busy machine without faults, in milliseconds.
    private static let sendTimeout: Int64 = 5_000

    /// How long a portal waits for an answer, in milliseconds.
    private static let answerTimeout = Int64(Traffic.answerTimeout / .milliseconds(1))

    /// A relay did not understand the message log. The messages are valid, so one of the two is to blame, or the difference between
    /// their versions.
    static let refusals: Set<String> = Set(
        [RelayErrorCode.relayInvalid, .relayTooOld, .relayForbidden, .relayUnauthenticated].map(\.rawValue))

    /// How long an injected fault may affect messages after its end, in milliseconds.
    private static let recoveryTimeout: Int64 = 5_000

    var isGood: Bool { problems.isEmpty && lost == 0 }

    /// The last line of a run.
    var summary: String { "accepted=\(accepted) delivered=\(delivered) failed=\(failed) lost=\(lost) doubled=\(doubled)" }

    init(_ evidence: Evidence) {
        pushes = PushVerdict(
            accepted: evidence.acceptedPushes, stored: evidence.storedPushes, sends: evidence.pushSends,
            injectedFaults: evidence.injectedFaults, storing: evidence.storing)
        audit = evidence.audit.map { audit in
            AuditVerdict(
                audit, accepted: evidence.accepted.map(\.msiKey), archive: evidence.archive.mapValues(\.state),
                interventions: evidence.interventions)
        }
        phones = evidence.phones.map { PhoneVerdict($0, archive: evidence.archive) }
        let approvals = evidence.audit?.entries.filter { $0.action == "message.approve" } ?? []
        browsers = evidence.browsers.map { browsers in
            BrowserVerdict(
                browsers, archive: evidence.archive, approved: Set(approvals.map(\.object.id)),
                injectedFaults: evidence.injectedFaults)
        }
        broadcasts = BroadcastVerdict(
            sent: evidence.sentBroadcasts, logged: evidence.loggedBroadcasts, audit: evidence.audit, phones: evidence.phones)
        cube = CubeVerdict(evidence.cubeEdits, cube: evidence.cube, audit: evidence.audit)
        students = evidence.students.isEmpty ? nil : StudentVerdict(evidence.students)
        study = evidence.study.map { StudyVerdict($0) }
        let moderation = evidence.study.map { StudyVerdict.problems(ofAudit: evidence.audit?.entries ?? [], $0) } ?? []
        let features = evidence.phones.map { FeatureVerdict($0, sent: evidence.sentBroadcasts).problems } ?? []
        problems = evidence.problems + JoinVerdict(evidence.join).problems + features + cube.problems
        problems += pushes.problems + (audit?.problems ?? []) + (phones?.problems ?? []) + broadcasts.problems
        problems += (browsers?.problems ?? []) + (students?.problems ?? []) + (study?.problems ?? []) + moderation
        problems += study?.variety.problems ?? []
        for message in evidence.accepted { judge(message, evidence) }
        for message in evidence.archive.values { judge(message, evidence) }
        for (component, copies) in evidence.sends { judge(copies, of: component, evidence) }
        for start in evidence.failedStarts { judge(start, evidence) }
        judgeRefusals(evidence)
        judgeHangs(evidence)
        let keys = Set(evidence.accepted.map(\.msiKey))
        if keys.count < evidence.accepted.count {
            problems.append("\(evidence.accepted.count - keys.count) messages were accepted under the msi_key of another one")
        }
    }

    /// Adds a problem, and what the services logged about the message.
    private mutating func add(_ problem: String, about msiKey: String, _ evidence: Evidence) {
        let isListed = withLog.count < Self.maxWithLog && withLog.insert(msiKey).inserted
        let lines = isListed ? evidence.logLines(msiKey) : []
        problems.append(([problem] + lines).joined(separator: "\n    "))
    }

    /// Checks the end of an accepted message.
    private mutating func judge(_ message: Traffic.Accepted, _ evidence: Evidence) {
        accepted += 1
        let missing = message.components.filter { evidence.sends[$0] == nil }
        let archived = evidence.archive[message.msiKey]
        if missing.isEmpty {
            delivered += 1
        } else if let archived, archived.isFinal, archived.state != "relayed" {
            failed += 1
        } else {
            lost += 1
            let state = archived.map { "is \($0.state) in the archive" } ?? "is not in the archive"
            add("lost: \(message.msiKey) \(state), and FCM does not have \(missing.map(\.name))", about: message.msiKey, evidence)
        }
    }

    /// Checks whether the archive's claims about a message are true, for every message of the archive.
    private mutating func judge(_ message: ArchivedMessage, _ evidence: Evidence) {
        if !message.isFinal { add("\(message.msiKey) has come to no end: \(message)", about: message.msiKey, evidence) }
        for component in message.components {
            switch component.state {
            case "accepted":
                let names = evidence.sends[component.component]?.map(\.name) ?? []
                if !names.contains(component.name ?? "") {
                    problems.append(
                        "\(component.component) is at FCM by the archive, as \(component.name ?? "nothing"); FCM has \(names)")
                }
            case "failed" where Self.refusals.contains(component.error ?? ""):
                add("a relay has refused \(component.component): \(component.error ?? "")", about: message.msiKey, evidence)
            case "failed" where component.error == nil: problems.append("\(component.component) has failed without a reason")
            default: break
            }
        }
        if message.state == "expired" { judgeExpiry(of: message, evidence) }
        if message.webpush == "failed" { add("\(message.msiKey) has failed for browsers", about: message.msiKey, evidence) }
        let states = Set(message.components.map(\.state) + [message.webpush].compactMap(\.self))
        if message.state == "relayed", states != ["accepted"] {
            problems.append("\(message.msiKey) is relayed, but its components are \(states.sorted())")
        }
    }

    /// Checks whether a component was sent in time, and whether every copy is explained.
    private mutating func judge(_ copies: [AcceptedSend], of component: SentComponent, _ evidence: Evidence) {
        guard let message = evidence.archive[component.msiKey] else {
            problems.append("FCM has \(component), which is not in the archive")
            return
        }
        for copy in copies { judgeTime(of: copy, message, evidence) }
        if copies.count > 1 { doubled += 1 }
        let recorded = message.components.first { $0.component == component }?.name
        for copy in copies where copy.name != recorded {
            let stray = StrayCopy(copy, of: message, evidence)
            if stray.isHarmless {
                explained[stray.rule.rawValue, default: 0] += 1
            } else if let cause = stray.cause(among: evidence.injectedFaults) {
                explained["\(stray.rule.rawValue): \(cause.part.name), \(cause.action.rawValue)", default: 0] += 1
            } else {
                problems.append("unexplained: \(stray); the archive has \(recorded ?? "none") of \(copies.map(\.name))")
            }
        }
    }

    /// Checks whether a component was sent after it was due and before it expired.
    private mutating func judgeTime(of copy: AcceptedSend, _ message: ArchivedMessage, _ evidence: Evidence) {
        if MachineClock(evidence.injectedFaults).wasSet(during: message) { return }
        if copy.received < message.due {
            problems.append("\(copy.component) was at FCM at \(copy.received), before it was due at \(message.due)")
        }
        let wasTakenTooLate = copy.taken.map { $0 * 1_000 >= message.expires } ?? false
        // A send in time may arrive late at FCM if a part in between was disturbed.
        let wasHeldUp = evidence.injectedFaults.contains { injected in
            injected.action == .freeze && Part.sending.contains(injected.part)
                && injected.overlaps(message.expires...max(message.expires, copy.received))
        }
        if wasTakenTooLate || copy.received > message.expires + Self.sendTimeout && !wasHeldUp {
            let sent = copy.taken.map { "sent at \($0) s and " } ?? ""
            problems.append("\(copy.component) expired at \(message.expires), and was \(sent)at FCM at \(copy.received)")
        }
    }

    /// Checks whether there was a reason for a message to expire.
    private mutating func judgeExpiry(of message: ArchivedMessage, _ evidence: Evidence) {
        let wasSet = MachineClock(evidence.injectedFaults).wasSet(during: message)
        // The Web Push service keeps back nothing for FCM.
        let parts = Part.relaying + (message.isMissingAtBrowsersOnly ? Part.webPush : [])
        let hadReason =
            wasSet || wasBehind(during: message, evidence)
            || evidence.injectedFaults.contains { injected in
                parts.contains(injected.part)
                    && injected.overlaps(message.due - Self.recoveryTimeout...message.expires)
            }
        if !hadReason { add("expired though nothing was away: \(message)", about: message.msiKey, evidence) }
    }

    /// Whether others that were due by then took half of the message's lifetime or longer: a machine that is slower than the load of the
    /// run has a backlog. While others are sent in time, a message that expires was forgotten.
    private func wasBehind(during message: ArchivedMessage, _ evidence: Evidence) -> Bool {
        let limit = (message.expires - message.due) / 2
        func isLate(_ msiKey: String, _ received: Int64) -> Bool {
            guard let other = evidence.archive[msiKey], other.msiKey != message.msiKey else { return false }
            return received - other.due >= limit && other.due <= message.expires && received >= message.due
        }
        if evidence.sends.values.joined().contains(where: { isLate($0.component.msiKey, $0.received) }) { return true }
        guard message.isMissingAtBrowsersOnly, let browsers = evidence.browsers?.browsers else { return false }
        return browsers.lazy.flatMap(\.arrivals).contains { isLate($0.msiKey, $0.received) }
    }

    /// Checks whether messages were refused only while the disk was full, or shortly after.
    private mutating func judgeRefusals(_ evidence: Evidence) {
        let full = evidence.injectedFaults.filter { $0.action == .fillDisk }
        let wrong = evidence.refusals.filter { time in
            !full.contains { $0.overlaps(time - Self.recoveryTimeout...time) }
        }
        if !wrong.isEmpty { problems.append("\(wrong.count) posts were answered 507 though the disk was not full") }
    }

    /// Checks whether posts were left without an answer only by a frozen gateway. Whatever else is away, the answer is 503.
    private mutating func judgeHangs(_ evidence: Evidence) {
        let frozen = evidence.injectedFaults.filter { $0.part == .gateway && $0.action == .freeze }
        let wrong = evidence.hangs.filter { time in !frozen.contains { $0.overlaps(time - Self.answerTimeout...time) } }
        if !wrong.isEmpty { problems.append("\(wrong.count) posts had no answer within \(Self.answerTimeout) ms") }
    }

    /// Checks whether there was a reason for a failed start.
    private mutating func judge(_ start: RunningPart.FailedStart, _ evidence: Evidence) {
        // The tests' own database server keeps its folder locked for some seconds after its end.
        if start.part == .database { return }
        let isExcused = evidence.injectedFaults.contains { injected in
            let (began, ended) = (injected.began, injected.ended)
            return switch injected.action {
            // No database can be opened on a full disk, and a start takes a moment to fail. The supervisor repeats it.
            case .fillDisk: Part.withData.contains(start.part) && (began...ended + 1_000).contains(start.at)
            // A frozen message log may block the other one's database in the middle of a transaction.
            case .freeze:
                injected.part != start.part && Part.messageLogs.contains(injected.part)
                    && Part.messageLogs.contains(start.part) && (began...ended).contains(start.at)
            // A predecessor that waits for FCM's answers serves its sockets until it has them. The supervisor repeats the start.
            case .replaceEarly: injected.part == start.part && (began...ended).contains(start.at)
            default: false
            }
        }
        if !isExcused { problems.append("\(start.part.name) did not start, see \(start.logFile)") }
    }
}

extension ArchivedMessage {
    /// Whether FCM has accepted all of its components, and only the Web Push service has not.
    fileprivate var isMissingAtBrowsersOnly: Bool {
        webpush.map { $0 != "accepted" } == true && components.allSatisfy { $0.state == "accepted" }
    }
}

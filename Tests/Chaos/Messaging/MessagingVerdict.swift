import Schemas

/// The conclusion about the people who wrote to each other. Pure.
///
/// Each device of the one who gets a message has it once, in the order of the conversation, which is the same for both; nobody else
/// has it. The marks say so to the one who sent it, nothing that was read is left, and each message was pushed to its recipient once.
struct MessagingVerdict: Sendable {
    private(set) var problems: [String]
    /// The line for the report.
    let summary: String

    private static let maxProblems = 50

    init(_ evidence: MessagingEvidence) {
        problems = evidence.problems + Self.problemsOfSending(evidence)
        let sent = Dictionary(evidence.sent.map { ($0.id, $0) }) { first, _ in first }
        for (id, device) in evidence.devices { problems += Self.problems(of: device, "\(device.account) (\(id))", sent) }
        let read = Set(evidence.sides.map { [$0.account, $0.other] })
        let unread = Set(evidence.sent.flatMap { [[$0.from, $0.to], [$0.to, $0.from]] }).subtracting(read)
        problems += unread.map { "\($0[0]) could not read the conversation with \($0[1])" }
        problems += evidence.sides.flatMap { Self.problems(of: $0, evidence) }
        problems += Self.problemsOfPushes(evidence, sent)
        let hidden = problems.count - Self.maxProblems
        if hidden > 0 { problems = problems.prefix(Self.maxProblems) + ["and \(hidden) further problems of messages"] }
        let received = evidence.devices.values.reduce(0) { $0 + $1.received.count }
        let accounts = Set(evidence.devices.values.map(\.account)).count
        summary =
            "letters: accounts=\(accounts) devices=\(evidence.devices.count) sent=\(evidence.sent.count) received=\(received) "
            + "left=\(evidence.sides.reduce(0) { $0 + $1.left }) pushes=\(evidence.pushes.count) problems=\(problems.count)"
    }

    /// A conversation, whoever of the two is named first.
    private static func conversation(_ letter: Letter) -> [String] { [letter.from, letter.to].sorted() }

    // MARK: What was sent

    private static func problemsOfSending(_ evidence: MessagingEvidence) -> [String] {
        var problems: [String] = []
        if Set(evidence.sent.map(\.id)).count < evidence.sent.count { problems.append("two messages were answered with one id") }
        for (persons, letters) in Dictionary(grouping: evidence.sent, by: conversation) {
            if Set(letters.map(\.number)).count < letters.count {
                problems.append("two messages of \(persons) have one number")
            }
        }
        for (writer, letters) in Dictionary(grouping: evidence.sent, by: { [$0.from, $0.to] }) {
            for (letter, next) in zip(letters, letters.dropFirst()) where next.number <= letter.number {
                problems.append("\(writer) sent \(next.text) after \(letter.text), and its number \(next.number) is not greater")
            }
        }
        return problems
    }

    // MARK: What devices have

    private static func problems(
        of device: MessagingEvidence.Device, _ name: String, _ sent: [ObjectID: Letter]
    ) -> [String] {
        var problems: [String] = []
        var found: Set<ObjectID> = []
        var last: [String: Letter] = [:]
        for letter in device.received {
            guard sent[letter.id] == letter else {
                problems.append("\(name) has \(letter.text) (\(letter.id)), which was not sent so")
                continue
            }
            if letter.from != device.account, letter.to != device.account {
                problems.append("\(name) has \(letter.text), which is for \(letter.to)")
            }
            if !found.insert(letter.id).inserted { problems.append("\(name) has \(letter.text) twice") }
            let other = letter.other(of: device.account)
            if let earlier = last[other], earlier.number >= letter.number {
                problems.append("\(name) got \(letter.text) after \(earlier.text), of a later place")
            }
            last[other] = letter
        }
        // One of the sender's devices may come when it was read and removed.
        for letter in sent.values where letter.to == device.account && !found.contains(letter.id) {
            problems.append("lost: \(name) does not have \(letter.text) (\(letter.id))")
        }
        return problems
    }

    // MARK: What is left

    /// What is wrong with a conversation, as a person sees it when everything was read.
    private static func problems(of side: MessagingEvidence.Side, _ evidence: MessagingEvidence) -> [String] {
        let what = "the conversation of \(side.account) with \(side.other)"
        let conversation = side.conversation
        var problems: [String] = []
        func last(from writer: String, to reader: String) -> Int64? {
            evidence.sent.last { $0.from == writer && $0.to == reader }?.number
        }
        let (own, others) = (last(from: side.account, to: side.other), last(from: side.other, to: side.account))
        if side.left > 0 { problems.append("\(what) still has \(side.left) messages that were read") }
        if conversation.unread > 0 { problems.append("\(what) has \(conversation.unread) messages that were not read") }
        if let own, (conversation.delivered ?? 0) < own || (conversation.read ?? 0) < own {
            problems.append("\(what) does not say that \(own) was delivered and read: \(conversation)")
        }
        if let others, (conversation.seen ?? 0) < others { problems.append("\(what) does not say that \(others) was seen") }
        if let expired = conversation.expired { problems.append("\(what) says that \(expired) has expired") }
        if let last = [own, others].compactMap({ $0 }).max(), conversation.last != last {
            problems.append("\(what) ends with \(conversation.last), and \(last) was sent last")
        }
        return problems
    }

    // MARK: Pushes

    private static func problemsOfPushes(_ evidence: MessagingEvidence, _ sent: [ObjectID: Letter]) -> [String] {
        var problems = evidence.pushes.flatMap { $0.problems(names: evidence.names) }
        var told: [ObjectID: Int] = [:]
        for push in evidence.pushes {
            told[push.about, default: 0] += 1
            if push.kind != .directMessage { problems.append("there is a push \(push.kind) about \(push.about)") }
            guard let letter = sent[push.about] else {
                problems.append("a push is about \(push.about), which was not sent")
                continue
            }
            if push.account != letter.to, !push.account.isEmpty {
                problems.append("\(push.account) was told of \(letter.text), which is for \(letter.to)")
            }
        }
        for letter in sent.values where told[letter.id] != 1 {
            problems.append("\(letter.to) was told of \(letter.text) \(told[letter.id] ?? 0) times")
        }
        let places = Set(evidence.arrivals.map(\.place))
        for place in places where place.kind == "\(PushKind.directMessage)" {
            let letter = ObjectID(place.about).flatMap { sent[$0] }
            if letter?.to != place.account { problems.append("the phone of \(place.account) was told of \(place.about)") }
        }
        return problems
    }
}

import Schemas

/// The conclusion about the pushes. Pure.
struct PushVerdict: Sendable {
    private(set) var accepted = 0
    /// Accepted pushes that FCM has for each recipient.
    private(set) var delivered = 0
    /// Accepted pushes that have ended otherwise, with a reason.
    private(set) var failed = 0
    /// Accepted pushes that are neither.
    private(set) var lost = 0
    /// Recipients for which FCM has a push more than once.
    private(set) var doubled = 0
    private(set) var problems: [String] = []

    var summary: String {
        "pushes: accepted=\(accepted) delivered=\(delivered) failed=\(failed) lost=\(lost) doubled=\(doubled)"
    }

    /// - Parameters:
    ///   - accepted: The accepted pushes, from the message log's answers.
    ///   - stored: The pushes that are stored at the end.
    ///   - sends: Every send of a push that FCM accepted.
    ///   - storing: How long the database may take to store what a relay has answered, in milliseconds.
    init(
        accepted: [Push], stored: [ObjectID: Push], sends: [PushSend], injectedFaults: [InjectedFault], storing: Int64
    ) {
        let byPlace = Dictionary(grouping: sends, by: \.place)
        for push in accepted { judge(push, stored[push.id], byPlace) }
        var names: [PushSend.Place: String] = [:]
        for push in stored.values {
            for record in push.relay.recipients { names[Self.place(of: push, record.recipient)] = record.name }
        }
        let known = Set(accepted.map(\.idempotencyKey))
        for (place, copies) in byPlace {
            guard known.contains(place.key) else {
                problems.append("FCM has the push \(place.key), which was not accepted")
                continue
            }
            if copies.count > 1 { doubled += 1 }
            for copy in copies where copy.name != names[place] { judge(copy, injectedFaults, storing: storing) }
        }
        if Set(accepted.map(\.id)).count < accepted.count { problems.append("two pushes were accepted under one id") }
    }

    private static func place(of push: Push, _ recipient: PushRecipient) -> PushSend.Place {
        PushSend.Place(key: push.idempotencyKey, recipient: recipient)
    }

    private mutating func judge(_ push: Push, _ stored: Push?, _ sends: [PushSend.Place: [PushSend]]) {
        accepted += 1
        let missing = push.recipients.filter { sends[Self.place(of: push, $0)] == nil }
        let hasEnded = stored.map { $0.relay.nextAttempt == nil } ?? false
        if missing.isEmpty {
            delivered += 1
        } else if hasEnded, stored?.relay.state != .relayed {
            failed += 1
        } else {
            lost += 1
            let state = stored.map { "is \($0.relay.state.rawValue)" } ?? "is not stored"
            problems.append(
                "lost: push \(push.idempotencyKey) \(state), and FCM does not have it for \(missing.count) recipients")
        }
        guard let stored else { return }
        if !hasEnded { problems.append("push \(push.idempotencyKey) has come to no end: \(stored.relay.state.rawValue)") }
        for record in stored.relay.recipients {
            let names = sends[Self.place(of: push, record.recipient)]?.map(\.name) ?? []
            if record.state == .accepted, !names.contains(record.name ?? "") {
                problems.append("push \(push.idempotencyKey) is at FCM as \(record.name ?? "nothing"); FCM has \(names)")
            }
            if record.state == .failed, let error = record.error, Verdict.refusals.contains(error.code) {
                problems.append("a relay has refused push \(push.idempotencyKey): \(error.code)")
            }
            if [.failed, .expired].contains(record.state), record.error == nil {
                problems.append("push \(push.idempotencyKey) has \(record.state.rawValue) without a reason")
            }
        }
    }

    /// Checks whether a fault explains a copy that is not the stored one.
    private mutating func judge(_ copy: PushSend, _ injectedFaults: [InjectedFault], storing: Int64) {
        guard !PushInFlight(received: copy.received, storing: storing).canBeDoubled(by: injectedFaults) else { return }
        problems.append("unexplained: \(copy.place.key) as \(copy.name), at FCM at \(copy.received)")
    }
}

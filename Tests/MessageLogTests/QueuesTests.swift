import Archive
import Base
import Schemas
import Testing

@testable import MessageLog

/// The state machine of an outbox with the queues of both transports.
@Suite("Queues of two transports")
struct QueuesTests {
    private var outbox = OutboxStateMachine(capacity: 16, transports: [.fcm, .webpush])

    /// It is due, and leased by the queues.
    private static func message(_ queues: [OutboxQueue] = []) -> OutboxItem {
        let command = LogMessage.sample(topic: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()))
        var relay = RelayRecord(logged: .alert, by: [.fcm, .webpush], due: 0, expires: command.expires)
        if !queues.isEmpty { relay.takeLease(Lease(owner: "me", until: 30_000), for: OutboxQueues(queues)) }
        return .message(.sample(command, relay: relay))
    }

    private static func block() -> OutboxItem {
        .push(
            Push(
                sender: "webpush", idempotencyKey: "\(ObjectID())", transport: .webpush, fairnessKey: "\(ObjectID())",
                message: ["payload": [:], "urgency": "high"], urgency: .high, logged: 0, expires: .max,
                relay: PushRecord(logged: [.token("a")], by: .webpush, due: 0, expires: .max)))
    }

    /// The claims of urgent items that are due, each found empty.
    private mutating func claims(at now: UnixMilliseconds) -> [Claim] {
        var claims: [Claim] = []
        while case .claim(let claim) = outbox.next(at: now) {
            if claim.urgency == .high { claims.append(claim) }
            _ = outbox.claimed([], for: claim, at: now)
        }
        return claims
    }

    /// Reserves room for an item, and returns the queues whose room it has got.
    private mutating func reserved(_ item: OutboxItem) -> [OutboxQueue] {
        outbox.reserve(item) ? asked(item) : []
    }

    private func asked(_ item: OutboxItem) -> [OutboxQueue] {
        OutboxQueue.allCases.filter { outbox.askedQueues(of: item.key).contains(OutboxQueues($0)) }
    }

    @Test("Each queue is claimed by itself, and a new message takes up room in both of its queues")
    mutating func both() {
        let claims = claims(at: 0)
        #expect(claims.map(\.queue) == [.fcm, .fanOuts, .blocks])
        let message = Self.message()
        let queues = reserved(message)
        #expect(queues == [.fcm, .fanOuts])
        _ = outbox.finished(.settled, of: message, at: 1)
        #expect(outbox.keysInFlight.isEmpty)
    }

    @Test("While FCM is unreachable, new messages go to the Web Push service at once, and FCM is tried with one item")
    mutating func withoutFCM() {
        let first = Self.message()
        _ = outbox.reserve(first)
        _ = outbox.finished(.dropped, in: [.fcm: .unreachable, .fanOuts: .settled], of: first, at: 0)
        let next = reserved(Self.message())
        #expect(next == [.fanOuts])
        let due = claims(at: 200)
        #expect(due.filter { $0.queue == .fcm } == [Claim(.high, of: .fcm, limit: 1, maxPerKey: 1)])
        #expect(due.first { $0.queue == .fanOuts }?.limit == 13)
        // What the other queue has claimed is not handed to FCM.
        let waiting = Self.message([.fanOuts])
        _ = outbox.claimed([waiting], for: Claim(.high, of: .fanOuts, limit: 13, maxPerKey: 8), at: 300)
        #expect(asked(waiting) == [.fanOuts])
        // The item that FCM is tried with is handed to both.
        let tried = Self.message([.fcm])
        _ = outbox.claimed([tried], for: Claim(.high, of: .fcm, limit: 1, maxPerKey: 1), at: 300)
        #expect(asked(tried) == [.fcm, .fanOuts])
        // After the first answer everything is as before.
        _ = outbox.finished(.settled, of: tried, at: 400)
        _ = claims(at: 400)
        let normal = reserved(Self.message())
        #expect(normal == [.fcm, .fanOuts])
    }

    @Test("While the Web Push service is unreachable, FCM gets new messages at once")
    mutating func withoutWebPush() {
        let block = Self.block()
        _ = outbox.reserve(block)
        _ = outbox.finished(.unreachable, of: block, at: 0)
        let (message, next) = (reserved(Self.message()), reserved(Self.block()))
        #expect(message == [.fcm] && next == [])
        let due = claims(at: 200)
        #expect(due.first { $0.queue == .fcm }?.limit == 13)
        #expect(due.filter { $0.queue != .fcm }.map(\.limit) == [1, 1])
    }

    @Test("Blocks that hang take up no room of messages, and a backlog of FCM does not delay the part for Web Push")
    mutating func room() {
        while outbox.reserve(Self.block()) {}
        let message = reserved(Self.message())
        #expect(message == [.fcm, .fanOuts])
        // A claim that was full leaves a backlog.
        _ = outbox.claimed([Self.message([.fcm])], for: Claim(.high, of: .fcm, limit: 1, maxPerKey: 1), at: 10)
        let late = Self.message()
        let queues = reserved(late)
        #expect(queues == [.fanOuts])
        // Its part for FCM is claimed as soon as claims may follow each other.
        _ = outbox.finished(.settled, of: late, at: 20)
        let due = claims(at: 20)
        #expect(due.contains { $0.queue == .fcm })
    }

    @Test("While the devices of persons are not known, few pushes of their key are tried, and an outage of FCM stays")
    mutating func unresolved() {
        outbox = OutboxStateMachine(capacity: 64, transports: [.fcm, .webpush])
        let toPersons = OutboxItem.push(
            Push(
                sender: "people", idempotencyKey: "k", transport: .webpush, fairnessKey: "friends", message: ["person": [:]],
                urgency: .high, logged: 0, expires: .max,
                relay: PushRecord(logged: [.account("ann")], by: .webpush, due: 0, expires: .max)))
        let queues = reserved(toPersons)
        #expect(queues == [.fcm, .blocks])
        let first = Self.message()
        _ = outbox.reserve(first)
        _ = outbox.finished(.dropped, in: [.fcm: .unreachable, .fanOuts: .settled], of: first, at: 0)
        _ = outbox.finished(.unresolved, of: toPersons, at: 0)
        let due = claims(at: 200)
        #expect(due.first { $0.queue == .fcm }?.limit == 1)
        #expect(due.first { $0.queue == .blocks }?.room(for: .named("friends")) == InFlightItems.roomWhileFailing)
        #expect(due.first { $0.queue == .blocks }?.room(for: .named("other")) == 8)
    }

    @Test("Slow claims of two queues with a backlog delay neither the third queue nor Information for long")
    mutating func slowClaims() {
        var now: UnixMilliseconds = 0
        var began: [Claim] = []
        // Each claim of messages takes longer than the time after which its queue may be claimed again, and finds as many as it may.
        for _ in 0..<200 {
            guard case .claim(let claim) = outbox.next(at: now) else { break }
            began.append(claim)
            now = now + 20
            let isFlood = claim.urgency == .high && claim.queue != .blocks
            let found = isFlood ? (0..<claim.limit).map { _ in Self.message([claim.queue]) } : []
            for item in outbox.claimed(found, for: claim, at: now) { _ = outbox.finished(.settled, of: item, at: now) }
            if claim.urgency == .high { outbox.becameDue(.high, at: now) }
        }
        #expect(began.count == 200)
        for queue in OutboxQueue.allCases {
            #expect(began.count { $0.queue == queue && $0.urgency == .high } >= 40)
            #expect(began.count { $0.queue == queue && $0.urgency == .normal } >= 1)
        }
    }

    @Test("Without Web Push there is one queue, even if FCM is switched off")
    mutating func alone() {
        for transports in [PushTransports.fcm, []] {
            outbox = OutboxStateMachine(capacity: 16, transports: transports)
            let due = claims(at: 0)
            #expect(due.map(\.queue) == [.fcm])
        }
    }
}

import Bus
import FoundationEssentials
import Base
import Schemas
import Synchronization
import TestSupport
import Testing

/// Pushes from `push.log` to the event at their end, with relays that answer in every way.
@Suite("Pushes over the bus", .timeLimit(.minutes(10)))
struct PushOverTheBusTests {
    private static let people = CallerContext(actor: "people")

    private func wait(
        for id: ObjectID, in log: RunningMessageLog, within limit: Duration = .seconds(120), until isWanted: (PushRecord) -> Bool
    ) async throws -> Push {
        try await eventually("the push is as the test wants it", within: limit) {
            let push = try await log.client.request(GetPush(pushID: id))
            return isWanted(push.relay) ? push : nil
        }
    }

    @Test("A push waits for a relay that knows the command")
    func olderRelay() async throws {
        let first = First()
        let relay = RelayDouble(pushes: { command in
            if first.take() { throw CommandFailure(.invalid, "unknown command \"push.relay\"") }
            return command.recipients.map { .success("n-\($0.text)") }
        })
        try await RunningMessageLog.withFastRetries(relay) { log in
            let id = try await log.client.request(LogPush.sample("k"), context: Self.people).push.id
            let ended = try await wait(for: id, in: log) { $0.nextAttempt == nil }
            #expect(ended.relay.state == .relayed && ended.relay.attempts == 2)
        }
    }

    @Test("Each token's outcome is kept, only outstanding tokens are sent to again, and unregistered tokens are reported")
    func tokens() async throws {
        let relay = RelayDouble(pushes: { command in
            command.recipients.map { recipient in
                switch String(recipient.text.suffix(1)) {
                case "1": .failure(DeliveryError(.unregistered))
                case "2" where command.recipients.count > 100: .failure(DeliveryError(.unavailable, retryAfter: 100))
                default: .success("n-\(recipient.text)")
                }
            }
        })
        let tokens = (0..<600).map { PushRecipient.token("t\($0)") }
        try await RunningMessageLog.withFastRetries(relay) { log in
            let events = try EventSubscriber(
                bus: log.bus, endpoints: [log.events], names: [PushEnded.name],
                logger: quietLogger)
            var news = events.events.makeAsyncIterator()
            while let event = await news.next() { if case .connected = event { break } }

            let logged = try await log.client.request(LogPush.sample("k", to: tokens), context: Self.people).push
            #expect(logged.sender == "people" && logged.relay.state == .pending)
            let ended = try await wait(for: logged.id, in: log) { $0.nextAttempt == nil }
            #expect(ended.relay.state == .failed && ended.relay.attempts == 2)
            let gone = tokens.map(\.text).filter { $0.hasSuffix("1") }
            #expect(ended.unregistered == gone)
            for record in ended.relay.recipients where !gone.contains(record.recipient.text) {
                #expect(record.state == .accepted && record.name == "n-\(record.recipient.text)")
            }
            let asked = relay.askedPushes.filter { $0.pushID == logged.id }.map(\.recipients)
            #expect(asked == [tokens, tokens.filter { $0.text.hasSuffix("2") }])

            while let event = await news.next() {
                guard case .event(let name, let payload, _) = event else { continue }
                let told: PushEnded = try JSONCoder.decode(from: payload)
                #expect(name == "push.ended" && told == PushEnded(ended))
                break
            }
            await events.close()
        }
    }

    @Test(
        "A key that comes again answers with the stored push; with another content it is a conflict, for another sender it is its own"
    )
    func idempotency() async throws {
        try await RunningMessageLog.with { log in
            let command = LogPush.sample("k", notBefore: .now + 3_000_000)
            let first = try await log.client.request(command, context: Self.people).push
            #expect(try await log.client.request(command, context: Self.people).push == first)
            let other = LogPush(
                idempotencyKey: "k", recipients: [.topic("other")], fairnessKey: "people", message: command.message,
                expires: command.expires, notBefore: command.notBefore)
            let conflict = await log.client.failure(of: other, context: Self.people)
            #expect(conflict?.status == .conflict && conflict?.field == "idempotency_key")
            let another = try await log.client.request(command, context: CallerContext(actor: "study")).push
            #expect(another.id != first.id)
            let anonymous = await log.client.failure(of: command)
            #expect(anonymous?.status == .unauthenticated)
            #expect(await log.client.failure(of: GetPush(pushID: ObjectID()))?.status == .notFound)
        }
    }

    @Test("Pushes are listed by the beginnings of their keys, with the number of recipients in each state")
    func list() async throws {
        let relay = RelayDouble(pushes: { command in
            command.recipients.map { recipient in
                switch recipient.text {
                case "gone": .failure(DeliveryError(.unregistered))
                case "wrong": .failure(DeliveryError(class: .permanent, code: "INVALID_ARGUMENT", message: "no token"))
                default: .success("n-\(recipient.text)")
                }
            }
        })
        try await RunningMessageLog.withFastRetries(relay) { log in
            let tokens = ["a", "gone", "wrong", "b"].map { PushRecipient.token($0) }
            let first = try await log.client.request(LogPush.sample("k/0/x", to: tokens), context: Self.people).push.id
            let second = try await log.client.request(LogPush.sample("k/1/x"), context: Self.people).push.id
            _ = try await log.client.request(LogPush.sample("other"), context: Self.people)
            for id in [first, second] { _ = try await wait(for: id, in: log) { $0.nextAttempt == nil } }
            let page = try await log.client.request(ListPushes(sender: "people", keyPrefix: "k/", limit: 1))
            let push = try #require(page.pushes.first)
            #expect(page.pushes.count == 1 && push.pushID == first && push.state == .failed && push.attempts == 1)
            #expect(push.recipients == ["accepted": 2, "failed": 2] && push.error?.code == "INVALID_ARGUMENT")
            let rest = try await log.client.request(ListPushes(sender: "people", keyPrefix: "k/", after: page.next))
            #expect(rest.pushes.map(\.pushID) == [second] && rest.next == nil && rest.pushes.first?.error == nil)
            #expect(try await log.client.request(ListPushes(sender: "webpush", keyPrefix: "k/")).pushes.isEmpty)
        }
    }

    @Test("A push that FCM would refuse is invalid and is not stored; the error names the field")
    func validation() async throws {
        try await RunningMessageLog.with { log in
            for (message, field) in [
                (["android": ["ttl": "1"]], "message.android.ttl"), (["data": ["from": "x"]], "message.data.from"),
                (["token": "t"], "message.token"),
                (["data": ["a": .string(String(repeating: "x", count: 4_097))]], "message"),
            ] as [(JSONValue, String)] {
                let failure = await log.client.failure(of: LogPush.sample("k", message: message), context: Self.people)
                #expect(failure?.status == .invalid && failure?.field == field, "\(String(describing: failure))")
            }
            let topic = await log.client.failure(of: LogPush.sample("k", to: [.topic("a b")]), context: Self.people)
            #expect(topic?.field == "topic")
            let taken = try await log.client.request(LogPush.sample("k", notBefore: .now + 60_000), context: Self.people)
            #expect(taken.push.message["android"]?["priority"] == "HIGH")
        }
    }

    @Test("A push waits for its time, can be recalled before it, and expires; a failed one can be retried")
    func life() async throws {
        let isMended = Mutex(false)
        let relay = RelayDouble(pushes: { command in
            command.recipients.map { recipient in
                recipient.text == "bad" && !isMended.withLock(\.self)
                    ? .failure(DeliveryError(.senderIDMismatch)) : .success("n-\(recipient.text)")
            }
        })
        try await RunningMessageLog.with(relay) { log in
            func send(_ command: LogPush) async throws -> ObjectID {
                try await log.client.request(command, context: Self.people).push.id
            }
            let start = UnixMilliseconds.now
            let scheduled = try await send(LogPush.sample("scheduled", notBefore: start + 2_000))
            let recalled = try await send(LogPush.sample("recalled", notBefore: start + 3_000_000))
            let late = try await send(LogPush.sample("late", lifetime: -1))
            let failing = try await send(LogPush.sample("failing", to: [.token("good"), .token("bad")]))

            let back = try await log.client.request(RecallPush(pushID: recalled), context: Self.people)
            #expect(back.relay.state == .recalled && back.relay.trace?.map(\.by) == ["people"])
            #expect(await log.client.failure(of: RecallPush(pushID: recalled), context: Self.people)?.status == .conflict)
            let expired = try await wait(for: late, in: log) { $0.nextAttempt == nil }
            #expect(expired.relay.state == .expired && expired.relay.recipients[0].error?.catalogued == .expired)
            let failed = try await wait(for: failing, in: log) { $0.nextAttempt == nil }
            #expect(failed.relay.state == .failed && failed.relay.recipients.map(\.state) == [.accepted, .failed])
            #expect(failed.unregistered.isEmpty)
            isMended.withLock { $0 = true }
            let retried = try await log.client.request(RetryPush(pushID: failing), context: Self.people)
            #expect(retried.relay.state == .retrying && retried.relay.trace?.map(\.action) == [.retry])
            _ = try await wait(for: failing, in: log) { $0.state == .relayed }
            #expect(relay.askedPushes.filter { $0.pushID == failing }.map(\.recipients.count) == [2, 1])
            _ = try await wait(for: scheduled, in: log) { $0.state == .relayed }
            #expect(UnixMilliseconds.now >= start + 2_000)
            #expect(!relay.askedPushes.contains { $0.pushID == recalled || $0.pushID == late })
        }
    }

    @Test("After the limit for topics was lowered, a stored push is still the answer to its repeat, and a new one is invalid")
    func loweredLimit() async throws {
        func push(_ letter: String, expires: UnixMilliseconds, notBefore: UnixMilliseconds) -> LogPush {
            let text = JSONValue.string(String(repeating: letter, count: 400))
            return LogPush(
                idempotencyKey: "k", recipients: [.topic("news")], fairnessKey: "people",
                message: ["data": ["a": text], "android": ["collapseKey": "c", "priority": "high"]], expires: expires,
                notBefore: notBefore)
        }
        let (expires, notBefore) = (UnixMilliseconds.now + 3_600_000, UnixMilliseconds.now + 3_000_000)
        let command = push("x", expires: expires, notBefore: notBefore)
        try await withTemporaryFolder { folder in
            let stored = try await RunningMessageLog.with(in: folder) { log in
                try await log.client.request(command, context: Self.people).push
            }
            try await RunningMessageLog.with(in: folder, settings: ["MSI_FCM_TOPIC_PAYLOAD_LIMIT": "300"]) { log in
                let repeated = try await log.client.request(command, context: Self.people).push
                #expect(repeated == stored)
                let other = push("y", expires: expires, notBefore: notBefore)
                #expect(await log.client.failure(of: other, context: Self.people)?.status == .invalid)
                let ofAnother = await log.client.failure(of: command, context: CallerContext(actor: "study"))
                #expect(ofAnother?.status == .invalid && ofAnother?.field == "message")
                // The limit of a phone is another one.
                let toPhone = LogPush.sample("phone", to: [.token("t")], message: command.message)
                _ = try await log.client.request(toPhone, context: Self.people)
                let atExpiry = LogPush(
                    idempotencyKey: "late", recipients: [.topic("news")], fairnessKey: "people", message: [:], expires: expires,
                    notBefore: expires)
                let refused = await log.client.failure(of: atExpiry, context: Self.people)
                #expect(refused?.status == .invalid && refused?.field == "not_before")
            }
        }
    }

    @Test("Neither a flooded key nor one that FCM refuses delays messages or other keys")
    func fairness() async throws {
        let gate = Gate()
        let relay = RelayDouble(pushes: { command in
            switch command.recipients[0] {
            case .topic("flood"): await gate.pass()
            case .topic("failing"): return [.failure(DeliveryError(.quotaExceeded, retryAfter: 1))]
            default: break
            }
            return command.recipients.map { .success("n-\($0.text)") }
        })
        try await RunningMessageLog.with(relay) { log in
            try await concurrently(600) { number in
                let key = number % 2 == 0 ? "flood" : "failing"
                // On a busy machine the process may not run for a while, and refuses what has waited.
                return try await whenAvailable {
                    try await log.client.request(
                        LogPush.sample("\(key) \(number)", to: [.topic(key)], fairnessKey: key), context: Self.people)
                }
            }
            for number in 0..<10 {
                let quiet = try await log.client.request(
                    LogPush.sample("quiet \(number)", fairnessKey: "quiet"), context: Self.people
                ).push.id
                _ = try await wait(for: quiet, in: log) { $0.state == .relayed }
                let message = try await log.log(.sample("\(number)")).msiKey
                _ = try await log.wait(for: message) { $0.state == .relayed }
            }
            gate.open()
        }
    }
}

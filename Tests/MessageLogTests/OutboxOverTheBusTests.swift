import Bus
import Schemas
import TestSupport
import Testing
import Base

/// A message log with relays that start, end, and answer in every way.
@Suite("Outbox over the bus", .timeLimit(.minutes(10)))
struct OutboxOverTheBusTests {
    @Test("A message that waits in a relay for FCM's quota can be recalled")
    func recallFromTheRelay() async throws {
        let gate = Gate()
        let relay = RelayDouble { command in
            await gate.pass()
            return command.components.map { $0.refused(.retryable, "PROJECT_PAUSED", retryAfter: 60_000) }
        } withdraw: { _ in
            gate.open()
            return 1
        }
        try await RunningMessageLog.withFastRetries(relay) { log in
            let key = try await log.log(.sample()).msiKey
            try await eventually { !relay.asked(key).isEmpty }
            let recalled = try await log.client.request(RecallMessage(msiKey: key), context: .communicator)
            #expect(recalled.relay.state == .recalled && recalled.relay.components.map(\.state) == [.recalled, .recalled])
        }
    }

    @Test("Each component's outcome is stored, and only components that FCM did not accept are sent again")
    func outcomes() async throws {
        let relay = RelayDouble { command in
            let isFirst = command.components.count == 2
            return command.components.map { component in
                switch (command.content.title, component) {
                case ("permanent", .notification): component.refused(.permanent, "INVALID_ARGUMENT")
                case ("expired", _): component.refused(.expired, "EXPIRED")
                case ("later", _): component.refused(.retryable, "QUOTA_EXCEEDED", retryAfter: 60_000)
                case ("half", .data) where isFirst: component.refused(.retryable, "UNAVAILABLE")
                default: component.accepted
                }
            }
        }
        try await RunningMessageLog.withFastRetries(relay) { log in
            func key(_ title: String) async throws -> ObjectID { try await log.log(.sample(title)).msiKey }
            let (half, later) = (try await key("half"), try await key("later"))

            let permanent = try await log.wait(for: try await key("permanent")) { $0.nextAttempt == nil }
            #expect(permanent.state == .failed && permanent.components.map(\.state) == [.failed, .accepted])
            #expect(permanent.components[0].error?.code == "INVALID_ARGUMENT" && permanent.components[0].name == nil)

            let expired = try await log.wait(for: try await key("expired")) { $0.nextAttempt == nil }
            #expect(expired.state == .expired && expired.components.map(\.state) == [.expired, .expired])

            let retried = try await log.wait(for: later) { $0.state == .retrying }
            #expect(retried.components.map(\.error?.code) == ["QUOTA_EXCEEDED", "QUOTA_EXCEEDED"])
            #expect(try #require(retried.nextAttempt) > .now + 50_000)

            let done = try await log.wait(for: half) { $0.state == .relayed }
            #expect(done.attempts == 2 && done.components.map(\.error) == [nil, nil])
            #expect(relay.asked(half) == [[.notification, .data], [.data]])
        }
    }

    @Test("An invalid answer affects only its own message")
    func strangeAnswers() async throws {
        let relay = RelayDouble { command in
            switch command.content.title {
            case "never": command.components.map { $0.refused(.retryable, "X", retryAfter: .max) }
            case "before": command.components.map { $0.refused(.retryable, "X", retryAfter: Milliseconds(rawValue: .min)) }
            case "nothing": []
            case "doubled": (command.components + command.components.reversed()).map(\.accepted)
            case "refused": throw CommandFailure(.invalid, "not like this", field: "title")
            case "broken": throw CommandFailure(.internal, "it broke")
            case "busy": throw CommandFailure(.overloaded, "too much to do")
            default: command.components.map(\.accepted)
            }
        }
        try await RunningMessageLog.with(relay) { log in
            func relayed(_ title: String, until: (RelayRecord) -> Bool) async throws -> RelayRecord {
                try await log.wait(for: try await log.log(.sample(title)).msiKey, until: until)
            }
            let never = try await relayed("never") { $0.state == .retrying }
            #expect(try #require(never.nextAttempt) > .now + 3_000_000)
            let before = try await relayed("before") { $0.state == .retrying }
            #expect(try #require(before.nextAttempt) > .now + 1_000)
            let nothing = try await relayed("nothing") { $0.state == .retrying }
            #expect(nothing.components.map(\.state) == [.pending, .pending])
            let doubled = try await relayed("doubled") { $0.state == .relayed }
            #expect(doubled.attempts == 1)
            let refused = try await relayed("refused") { $0.nextAttempt == nil }
            #expect(
                refused.state == .failed && refused.components.map(\.error?.code) == ["RELAY_INVALID", "RELAY_INVALID"])
            let broken = try await relayed("broken") { $0.state == .retrying }
            #expect(broken.components.map(\.error?.code) == ["RELAY_INTERNAL", "RELAY_INTERNAL"])
            let busy = try await relayed("busy") { $0.lease == nil }
            #expect(busy.state == .pending && busy.attempts == 0)
            let good = try await relayed("good") { $0.state == .relayed }
            #expect(good.attempts == 1)
            #expect(log.process.isRunning)
        }
    }

    @Test("A message that cannot be relayed in time expires, with or without a relay")
    func expiry() async throws {
        try await RunningMessageLog.with { log in
            let past = try await log.log(.sample("past", lifetime: -1)).msiKey
            let soon = try await log.log(.sample("soon", lifetime: 1_500)).msiKey
            for key in [past, soon] {
                let record = try await log.wait(for: key) { $0.nextAttempt == nil }
                #expect(record.state == .expired && record.components.map(\.state) == [.expired, .expired])
                #expect(record.nextAttempt == nil && record.lease == nil)
            }
            let relay = RelayDouble()
            try await relay.run(in: log.folder) {
                let late = try await log.log(.sample("late", lifetime: -1)).msiKey
                _ = try await log.wait(for: late) { $0.state == .expired }
                #expect([past, soon, late].allSatisfy { relay.asked($0).isEmpty })
            }
        }
    }

    @Test("If a relay dies without an answer, the next relay gets the message")
    func noAnswer() async throws {
        try await RunningMessageLog.with { log in
            let key = LogMessage.sample("lost")
            let silent = RelayDouble { _ in
                try await Task.sleep(for: .seconds(600))
                return []
            }
            try await silent.run(in: log.folder) {
                _ = try await log.log(key)
                try await eventually { !silent.asked(key.msiKey).isEmpty }
            }
            // It is unknown whether the first relay had it sent, so the whole message is sent again.
            let next = RelayDouble()
            try await next.run(in: log.folder) {
                let record = try await log.wait(for: key.msiKey) { $0.state == .relayed }
                #expect(record.components.map(\.state) == [.accepted, .accepted])
                #expect(next.asked(key.msiKey) == [[.notification, .data]])
            }
        }
    }

    @Test("The message and the push in flight of a killed message log are relayed as soon as it is back; a push is in no history")
    func takeOver() async throws {
        let (gates, firsts) = ([Gate(), Gate()], [First(), First()])
        let relay = RelayDouble { command in
            if firsts[0].take() { await gates[0].pass() }
            return command.components.map(\.accepted)
        } pushes: { command in
            if firsts[1].take() { await gates[1].pass() }
            return command.recipients.map { .success("n-\($0.text)") }
        }
        try await relay.run { folder in
            let command = LogMessage.sample("held")
            let (lease, push) = try await RunningMessageLog.with(in: folder) { log in
                let logged = try await log.log(command)
                #expect(logged.relay.state == .pending)
                let push = try await log.client.request(LogPush.sample(), context: .communicator).push.id
                try await eventually { !relay.asked(command.msiKey).isEmpty && !relay.askedPushes.isEmpty }
                let held = try await log.message(command.msiKey)
                await log.process.kill()
                return (try #require(held.relay.lease), push)
            }
            try await RunningMessageLog.with(in: folder) { log in
                let record = try await log.wait(for: command.msiKey) { $0.state == .relayed }
                #expect(try #require(record.ended) < lease.until)
                #expect(relay.asked(command.msiKey).count == 2)
                try await eventually { try await log.client.request(GetPush(pushID: push)).relay.state == .relayed }
                #expect(relay.askedPushes.map(\.pushID) == [push, push])
                #expect(try await log.client.request(ListMessages(limit: 9)).messages.map(\.msiKey) == [command.msiKey])
            }
            for gate in gates { gate.open() }
        }
    }

    @Test("An answer that comes while the message log stops is stored")
    func gracefulStop() async throws {
        let gate = Gate()
        let relay = RelayDouble { command in
            await gate.pass()
            return command.components.map(\.accepted)
        }
        try await relay.run { folder in
            let command = LogMessage.sample("held")
            try await RunningMessageLog.with(in: folder) { log in
                _ = try await log.log(command)
                try await eventually { !relay.asked(command.msiKey).isEmpty }
                async let status = log.process.stop()
                try await eventually { log.process.log.contains(#""message":"stopping""#) }
                gate.open()
                #expect(await status == 0)
                expectCleanLog(of: log.process, secret: command.content.message, "stopping")
            }
            try await RunningMessageLog.with(in: folder) { log in
                let record = try await log.message(command.msiKey).relay
                #expect(record.state == .relayed && record.lease == nil)
            }
            #expect(relay.asked(command.msiKey).count == 1)
        }
    }
}

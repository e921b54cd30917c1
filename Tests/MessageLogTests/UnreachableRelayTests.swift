import Bus
import Schemas
import Synchronization
import TestSupport
import Testing
import Base

/// Messages and the operator's log while there is no relay, or while each relay dies.
@Suite("No relay", .timeLimit(.minutes(10)))
struct UnreachableRelayTests {
    private static let unreachable = "RELAY_UNREACHABLE"

    @Test("An outage of the relays shows in each waiting message, once in the log, and in the health")
    func outage() async throws {
        try await RunningMessageLog.with { log in
            let health = try await log.client.request(CheckHealth())
            #expect(health.parts["relay"]?.status == .unavailable && health.parts["relay"]?.message != nil)

            let soon = try await log.log(.sample("soon", lifetime: 8_000)).msiKey
            let waiting = try await log.wait(for: soon) { $0.components[0].error != nil && $0.lease == nil }
            #expect(waiting.state == .pending && waiting.attempts == 0 && waiting.nextAttempt != nil)
            #expect(waiting.components.map(\.error?.code) == [Self.unreachable, Self.unreachable])
            // A message that is logged now shows the error before its first attempt.
            let later = try await log.message(log.log(.sample("later", distribution: .information)).msiKey)
            #expect(later.relay.components.map(\.error?.code) == [Self.unreachable])
            let expired = try await log.wait(for: soon) { $0.nextAttempt == nil }
            #expect(expired.state == .expired && expired.attempts == 0)
            #expect(expired.components.map(\.error?.code) == [Self.unreachable, Self.unreachable])

            let relay = RelayDouble()
            try await relay.run(in: log.folder) {
                let relayed = try await log.wait(for: later.msiKey) { $0.state == .relayed }
                #expect(relayed.attempts == 1 && relayed.components.map(\.error) == [nil])
                #expect(relayed.components.map(\.name) == ["projects/p/messages/data"] && relayed.lease == nil)
                #expect(relay.asked(later.msiKey) == [[.data]])
                try await eventually { try await log.client.request(CheckHealth()).parts["relay"]?.status == .ok }
            }
            #expect(log.warnings("no relay takes messages") == 1)
            #expect(log.lines("over: no relay takes messages") == 1)
        }
    }

    @Test("A relay that cannot reach FCM is asked again soon, and the message shows FCM's error")
    func relayWithoutFCM() async throws {
        try await RunningMessageLog.with { log in
            let isBack = Mutex(false)
            let relay = RelayDouble { command in
                guard isBack.withLock(\.self) else { throw CommandFailure(.unavailable, "CIRCUIT_OPEN: FCM has failed") }
                return command.components.map(\.accepted)
            }
            try await relay.run(in: log.folder) {
                let key = try await log.log(.sample("waits")).msiKey
                let waiting = try await log.wait(for: key) { $0.components[0].error != nil }
                #expect(waiting.components.map(\.error?.code) == ["CIRCUIT_OPEN", "CIRCUIT_OPEN"])
                #expect(waiting.components.map(\.error?.message) == ["FCM has failed", "FCM has failed"])
                isBack.withLock { $0 = true }
                _ = try await log.wait(for: key) { $0.state == .relayed }
            }
        }
    }

    @Test("Expired messages end at once, while Alerts that no relay takes are retried")
    func promptExpiry() async throws {
        try await RunningMessageLog.with { log in
            for number in 0..<20 { _ = try await log.log(.sample("\(number)")) }
            let last = try await log.log(.sample("last", distribution: .information, lifetime: 1_000))
            let record = try await log.wait(for: last.msiKey) { $0.nextAttempt == nil }
            #expect(record.state == .expired && record.components.map(\.state) == [.expired])
            #expect(record.components[0].error != nil)
            #expect(try #require(record.ended) < last.expires + 60_000)
        }
    }

    @Test("A message that kills each relay waits longer each time, and the others go out")
    func poison() async throws {
        try await RunningMessageLog.with { log in
            let poison = LogMessage.sample("poison")
            let asked = Mutex<[ContinuousClock.Instant]>([])
            var others: [ObjectID] = []
            let end = ContinuousClock.now + .seconds(120)
            while asked.withLock(\.count) < 3, .now < end {
                let relay = RelayDouble { command in
                    if command.msiKey == poison.msiKey {
                        asked.withLock { $0.append(.now) }
                        try await Task.sleep(for: .seconds(600))
                    }
                    return command.components.map(\.accepted)
                }
                // The relay dies as soon as it has taken the message.
                try await relay.run(in: log.folder) {
                    if others.isEmpty { _ = try await log.log(poison) }
                    while ContinuousClock.now < end, relay.asked(poison.msiKey).isEmpty {
                        others.append(try await log.log(.sample("other", distribution: .information)).msiKey)
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
            }
            // The first attempt is at once. The others follow after about one and two seconds, less a fifth.
            let times = asked.withLock(\.self)
            let waits = zip(times, times.dropFirst()).map { $1 - $0 }
            #expect(waits.count == 2 && waits[0] > .milliseconds(780) && waits[1] > .milliseconds(1_580), "\(waits)")
            let record = try await log.wait(for: poison.msiKey) { $0.state == .retrying && $0.attempts >= 3 }
            #expect(record.components.map(\.error?.code) == ["RELAY_NO_ANSWER", "RELAY_NO_ANSWER"])
            try await RelayDouble().run(in: log.folder) {
                for key in others { _ = try await log.wait(for: key) { $0.state == .relayed } }
            }
        }
    }
}

extension RunningMessageLog {
    /// The number of log lines with a message.
    func lines(_ message: String) -> Int {
        process.log.split(separator: "\n").count { $0.contains("\"message\":\"\(message)\"") }
    }

    /// The number of warnings with a message.
    func warnings(_ message: String) -> Int {
        process.log.split(separator: "\n").count {
            $0.contains("\"message\":\"\(message)\"") && $0.contains("\"level\":\"warning\"")
        }
    }
}

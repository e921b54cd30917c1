import Bus
import Archive
import Schemas
import ServiceKit
import TestSupport
import Testing
import Base

@testable import MessageLog

/// The removal of old messages.
@Suite("Retention", .timeLimit(.minutes(10)))
struct RetentionTests {
    private static func ended(_ command: LogMessage) -> Message {
        var message = Message.sample(command)
        (message.relay.state, message.relay.nextAttempt, message.relay.ended) = (.relayed, nil, command.timestamp)
        return message
    }

    @Test("A removal by age that fails after a batch says what it has removed, and does not keep the canary's messages")
    func failingBatch() async throws {
        try await withArchive { store in
            let old = Self.ended(.sample(distribution: .alert, timestamp: 1))
            let probe = Self.ended(.sample(distribution: MessageOrigin.distribution, timestamp: 2))
            for message in [old, probe] { _ = try await store.insert(message) }
            var failing = ClaimedStore(store: store) { _, _, _ in [] }
            failing.removeAged = {
                // The first batch is removed.
                guard try await store.message(old.msiKey) != nil else { throw CommandFailure(.unavailable, "no answer") }
                return try await store.removeArchived(of: nil, before: 2, limit: 1)
            }
            let log = RecordedLog()
            let canary = MessageOrigin(topic: probe.topicKey, sender: probe.sender)
            let retention = Retention(store: failing, days: LiveSetting(1), canary: canary, logger: log.logger)
            let running = Task { try await retention.run() }
            try await eventually("the failure") { log.has("old messages cannot be removed") }
            running.cancel()
            try await running.value
            #expect(try await store.message(probe.msiKey) == nil)
            #expect(log.lines.contains { $0.text.hasPrefix("old messages removed") && $0.text.contains("1") })
        }
    }

    @Test("Messages that ended before the configured age are removed, and none that is still to be relayed")
    func retention() async throws {
        let year = Milliseconds.seconds(365 * 86_400)
        let now = UnixMilliseconds.now
        try await withTemporaryFolder { folder in
            let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
            for number in 0..<450 { _ = try await store.insert(Self.message("\(number)", at: now - year, ended: now - year)) }
            let kept = [
                Self.message("waiting", at: now - year, ended: nil), Self.message("failed late", at: now - year, ended: now),
                Self.message("new", at: now, ended: now),
            ]
            for message in kept { _ = try await store.insert(message) }
            try await store.close()
            try await RunningMessageLog.with(in: folder, settings: ["MSI_MESSAGE_RETENTION": "30"]) { log in
                try await eventually { log.process.log.contains("old messages removed") }
                let page = try await log.client.request(ListMessages(limit: 10))
                #expect(Set(page.messages.map(\.msiKey)) == Set(kept.map(\.msiKey)))
                expectCleanLog(of: log.process, secret: "Two\nlines", "retention")
            }
        }
    }

    @Test("Messages of the canary are kept for an hour, and those of other subjects for ever")
    func canary() async throws {
        let canary = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        let now = UnixMilliseconds.now
        let old = now - Milliseconds.seconds(3_700)
        try await withTemporaryFolder { folder in
            let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
            let kept = [
                Self.message("another subject's", at: old, ended: old),
                Self.message("new", at: now, ended: now, topic: canary, sender: "canary"),
                Self.message("waiting", at: old, ended: nil, topic: canary, sender: "canary"),
                Self.message("another account's", at: old, ended: old, topic: canary),
            ]
            for message in kept + [Self.message("old", at: old, ended: old, topic: canary, sender: "canary")] {
                _ = try await store.insert(message)
            }
            try await store.close()
            try await RunningMessageLog.with(in: folder, settings: ["MSI_CANARY_TOPIC": "\(canary)"]) { log in
                try await eventually {
                    let page = try await log.client.request(ListMessages(limit: 10))
                    return Set(page.messages.map(\.msiKey)) == Set(kept.map(\.msiKey))
                }
                try await eventually { log.process.log.contains("old messages of the canary removed") }
            }
        }
    }

    private static func message(
        _ title: String, at timestamp: UnixMilliseconds, ended: UnixMilliseconds?, topic: TopicKey = .sample, sender: String = "S"
    ) -> Message {
        var relay = RelayRecord(logged: .information, due: timestamp)
        if let ended {
            relay.state = .failed
            relay.nextAttempt = nil
            relay.ended = ended
        }
        var message = Message.sample(
            .sample(title, distribution: .information, timestamp: timestamp, topic: topic), sender: sender, relay: relay)
        message.expires = .now + 86_400_000
        return message
    }
}

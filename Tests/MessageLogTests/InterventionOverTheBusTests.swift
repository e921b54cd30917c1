import Bus
import Schemas
import TestSupport
import Testing
import Base

/// Scheduling, recall and retry of messages by portals.
@Suite("Interventions over the bus", .timeLimit(.minutes(10)))
struct InterventionOverTheBusTests {
    @Test("A scheduled message goes out once, at its time and not before, even if no process ran at that moment")
    func schedule() async throws {
        let relay = RelayDouble()
        try await relay.run { folder in
            let (start, messages) = try await RunningMessageLog.with(in: folder) { log in
                // Once the process runs: its start takes long on a busy machine.
                let start = UnixMilliseconds.now
                let messages = (
                    soon: LogMessage.sample("soon", sendAt: start + 12_000),
                    missed: LogMessage.sample("missed", sendAt: start + 20_000),
                    expired: LogMessage.sample("expired", lifetime: 100, sendAt: start + 20_000),
                    far: LogMessage.sample("far", sendAt: start + 86_400_000)
                )
                for command in [messages.soon, messages.missed, messages.expired, messages.far] {
                    _ = try await log.log(command)
                }
                let waiting = try await log.message(messages.soon.msiKey).relay
                #expect(waiting.state == .pending && waiting.nextAttempt == start + 12_000 && waiting.lease == nil)
                _ = try await log.wait(for: messages.soon.msiKey) { $0.state == .relayed }
                #expect(UnixMilliseconds.now >= start + 12_000)
                await log.process.kill()
                return (start, messages)
            }
            let (soon, missed, expired, far) = messages
            try await eventually { UnixMilliseconds.now > start + 20_200 }
            try await RunningMessageLog.with(in: folder) { log in
                _ = try await log.wait(for: missed.msiKey) { $0.state == .relayed }
                _ = try await log.wait(for: expired.msiKey) { $0.state == .expired }
                #expect(try await log.message(far.msiKey).relay.nextAttempt == start + 86_400_000)
            }
            // The kill may double it. The phone drops the copy.
            #expect(!relay.asked(soon.msiKey).isEmpty)
            #expect(relay.asked(expired.msiKey).isEmpty && relay.asked(far.msiKey).isEmpty)
        }
    }

    @Test("A waiting message can be recalled and never goes out; one in flight or relayed cannot")
    func recall() async throws {
        let gate = Gate()
        let relay = RelayDouble { command in
            if command.content.title == "held" { await gate.pass() }
            return command.components.map(\.accepted)
        }
        try await RunningMessageLog.with { log in
            // Long enough for the recall before it, on a busy machine.
            let waiting = try await log.log(.sample("waiting", sendAt: .now + 5_000)).msiKey
            let recalled = try await log.client.request(RecallMessage(msiKey: waiting), context: .ann)
            #expect(recalled.relay.state == .recalled && recalled.relay.nextAttempt == nil)
            #expect(recalled.relay.trace?.map(\.by) == ["Ann"] && recalled.relay.trace?.map(\.action) == [.recall])
            #expect(try await log.message(waiting) == recalled)
            let again = await log.client.failure(of: RecallMessage(msiKey: waiting), context: .communicator)
            #expect(again?.status == .conflict)
            try await relay.run(in: log.folder) {
                let held = try await log.log(.sample("held")).msiKey
                try await eventually { !relay.asked(held).isEmpty }
                let underWay = await log.client.failure(of: RecallMessage(msiKey: held), context: .ann)
                #expect(underWay?.status == .conflict)
                gate.open()
                _ = try await log.wait(for: held) { $0.state == .relayed }
                let gone = await log.client.failure(of: RecallMessage(msiKey: held), context: .ann)
                #expect(gone?.status == .conflict && gone?.message.contains("relayed") == true)
                let unknown = await log.client.failure(of: RecallMessage(msiKey: ObjectID()), context: .ann)
                #expect(unknown?.status == .notFound)
                // Its scheduled time has passed, and later messages have gone out.
                try await eventually { recalled.sendAt.map { $0 + 1_500 < .now } ?? false }
                let later = try await log.log(.sample("later")).msiKey
                _ = try await log.wait(for: later) { $0.state == .relayed }
                #expect(relay.asked(waiting).isEmpty)
            }
        }
    }

    @Test("A retry command sends the components of a failed message that FCM has not accepted")
    func retry() async throws {
        let mended = Gate()
        let isMended = Task { await mended.pass() }
        let relay = RelayDouble { command in
            guard command.components.count == 2 else {
                await isMended.value
                return command.components.map(\.accepted)
            }
            return [Component.notification.accepted, Component.data.refused(.permanent, "SENDER_ID_MISMATCH")]
        }
        try await RunningMessageLog.with(relay) { log in
            let key = try await log.log(.sample()).msiKey
            _ = try await log.wait(for: key) { $0.state == .failed }
            mended.open()
            let answer = try await log.client.request(RetryMessage(msiKey: key), context: .ann)
            #expect(answer.relay.state == .retrying && answer.relay.trace?.map(\.action) == [.retry])
            let done = try await log.wait(for: key) { $0.state == .relayed }
            #expect(done.trace?.map(\.by) == ["Ann"])
            #expect(relay.asked(key) == [[.notification, .data], [.data]])
            let again = await log.client.failure(of: RetryMessage(msiKey: key), context: .ann)
            #expect(again?.status == .conflict)
        }
    }
}

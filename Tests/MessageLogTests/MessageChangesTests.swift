import Bus
import FoundationEssentials
import Base
import Archive
import Schemas
import TestSupport
import Testing

@testable import MessageLog

@Suite("The changes of messages", .timeLimit(.minutes(10)))
struct MessageChangesTests {
    @Test("A full ring drops the oldest change, and a reader that is too far behind sees where it begins")
    func ring() {
        var ring = ChangeRing(epoch: ObjectID(), capacity: 3)
        func read(_ number: Int64?, of epoch: ObjectID? = nil, limit: Int = 10) -> (Int64, [String], Int64) {
            let reply = ring.changes(
                after: number.map { ChangePosition(epoch: epoch ?? ring.epoch, number: $0) }, limit: limit)
            return (reply.first, reply.changes.map(\.title), reply.latest)
        }
        #expect(read(nil) == (1, [], 0))
        #expect(read(0) == (1, [], 0))
        for title in ["a", "b", "c", "d"] { ring.append(MessageChange(.sample(.sample(title)), at: .now)) }
        #expect(read(nil) == (2, ["b", "c", "d"], 4))
        #expect(read(2) == (3, ["c", "d"], 4))
        #expect(read(1, limit: 2) == (2, ["b", "c"], 4))
        #expect(read(4) == (5, [], 4))
        // Too far behind, ahead, and of another process.
        #expect(read(0) == (2, ["b", "c", "d"], 4))
        #expect(read(5) == (2, ["b", "c", "d"], 4))
        #expect(read(3, of: ObjectID()) == (2, ["b", "c", "d"], 4))
    }

    @Test(
        "Of two changes of a message, the later one has the later time, whichever task tells first and whichever clock is ahead")
    func order() async throws {
        try await withArchive { store in
            let command = LogMessage.sample("held", approval: true)
            var message = Message.sample(command, relay: RelayRecord(held: command.content.distribution, until: command.expires))
            // The clock that gave it its timestamp is ahead.
            message.timestamp = .now + .seconds(5)
            _ = try await store.insert(message)
            let key = OutboxKey.message(message.msiKey)
            let approved = try await store.change(key) { record, _, time in
                try record.approve(by: "Ben", of: "Ann", at: time, notBefore: nil, expires: command.expires)
            }
            let failed = try await store.change(key) { record, _, time in
                record.state = .failed
                record.nextAttempt = nil
                record.ended = time.recorded
            }
            let retried = try await store.change(key) { record, _, time in
                try record.retry(by: "Ben", at: time, expires: command.expires)
            }
            let times = [approved, failed, retried].compactMap { $0?.changed }
            // But nothing waits for a clock that is ahead.
            for due in [approved, retried].map({ $0?.item.record.nextAttempt }) { #expect(try #require(due) <= .now) }
            #expect(times.count == 3 && zip(times, times.dropFirst()).allSatisfy { $0 < $1 } && message.timestamp < times[0])

            // The first change is added last.
            let changes = MessageChanges { _ in }
            let announcer = OutboxAnnouncer(changes: changes) { _ in }
            for changed in [retried, failed, approved].compactMap(\.self) { announcer.announce(changed) }
            let told = changes.read(ReadMessageChanges(after: nil)).changes
            #expect(told.sorted { $0.changed < $1.changed }.map(\.state) == [.pending, .failed, .retrying])
        }
    }

    @Test("Each state of a message can be read in order, and an event says when there is something to read")
    func overTheBus() async throws {
        let relay = RelayDouble()
        try await withTemporaryFolder { folder in
            let epoch = try await RunningMessageLog.with(in: folder) { log in
                let events = try EventSubscriber(
                    bus: log.bus, endpoints: [log.events], names: [MessageChanged.name], logger: quietLogger)
                var news = events.events.makeAsyncIterator()
                while let event = await news.next() { if case .connected = event { break } }

                let scheduled = try await log.log(.sample("Later", sendAt: .now + 3_000_000))
                _ = try await log.client.request(RecallMessage(msiKey: scheduled.msiKey), context: .ann)
                let message = try await log.log(.sample("Now"))
                let repeated = LogMessage(
                    msiKey: message.msiKey, content: message.content, timestamp: message.timestamp, names: message.names,
                    expires: message.expires)
                _ = try await log.log(repeated)
                try await relay.run(in: folder) {
                    _ = try await log.wait(for: message.msiKey) { $0.state == .relayed }
                    let reply = try await eventually("the last change") {
                        let reply = try await log.client.request(ReadMessageChanges(after: nil))
                        return reply.changes.count == 4 ? reply : nil
                    }
                    #expect(reply.first == 1 && reply.latest == 4)
                    #expect(reply.changes.map(\.state) == [.pending, .recalled, .pending, .relayed])
                    #expect(reply.changes.map(\.title) == ["Later", "Later", "Now", "Now"])
                    #expect(reply.changes.map(\.msiKey) == [scheduled, scheduled, message, message].map(\.msiKey))
                    #expect(reply.changes.allSatisfy { $0.topicKey == .sample && $0.sender == "Communicator" })
                    #expect(reply.changes.map(\.changed) == reply.changes.map(\.changed).sorted())

                    var told: ChangePosition?
                    while told?.number != 4, let event = await news.next() {
                        guard case .event(_, let payload, _) = event else { continue }
                        told = try JSONCoder.decode(MessageChanged.self, from: payload).position
                    }
                    #expect(told?.epoch == reply.epoch)
                }
                await events.close()
                let rest = ChangePosition(epoch: try await log.client.request(ReadMessageChanges(after: nil)).epoch, number: 3)
                let reply = try await log.client.request(ReadMessageChanges(after: rest, limit: 1))
                #expect(reply.first == 4 && reply.changes.map(\.state) == [.relayed])
                return reply.epoch
            }
            try await RunningMessageLog.with(in: folder) { log in
                let known = ChangePosition(epoch: epoch, number: 4)
                let reply = try await log.client.request(ReadMessageChanges(after: known))
                #expect(reply.epoch != epoch && reply.first == 1 && reply.changes == [])
            }
        }
    }
}

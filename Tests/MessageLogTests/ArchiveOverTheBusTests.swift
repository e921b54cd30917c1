import Bus
import Schemas
import TestSupport
import Testing
import Base

/// The archive over the service's real socket, without a relay.
@Suite("Archive over the bus", .timeLimit(.minutes(10)))
struct ArchiveOverTheBusTests {
    @Test("A message that was answered is stored, even if a kill follows at once")
    func durable() async throws {
        try await withTemporaryFolder { folder in
            let answered = try await RunningMessageLog.with(in: folder) { log in
                let first = try await log.log(.sample("first"))
                // Many concurrent posts, interrupted by a kill. The posts that were answered before count.
                return await withTaskGroup(of: Message?.self) { group in
                    for number in 0..<300 {
                        group.addTask { try? await log.log(.sample("\(number)")) }
                    }
                    var answered = [first]
                    for await case let message? in group {
                        answered.append(message)
                        if answered.count == 100 { await log.process.kill() }
                    }
                    return answered
                }
            }
            #expect(answered.count >= 100)
            try await RunningMessageLog.with(in: folder) { log in
                for message in answered {
                    let stored = try await log.message(message.msiKey)
                    #expect(stored.content == message.content && stored.id == message.id)
                    #expect(stored.relay.state == .pending)
                }
            }
        }
    }

    @Test("The same message is stored once, and another message with its key is a conflict")
    func sameKey() async throws {
        try await RunningMessageLog.with { log in
            let command = LogMessage.sample()
            let first = try await log.log(command)
            #expect(first.msiKey == command.msiKey && first.content == command.content && first.names == command.names)
            #expect(first.sender == "Communicator" && first.timestamp == command.timestamp)
            #expect(first.relay.components.map(\.component) == [.notification, .data])
            let again = try await log.log(command)
            #expect(again.id == first.id)
            let other = await log.client.failure(
                of: LogMessage.sample("another", msiKey: command.msiKey), context: .communicator)
            #expect(other?.status == .conflict && other?.field == "msi_key")
            let page = try await log.client.request(ListMessages(limit: 10))
            #expect(page.messages.map(\.id) == [first.id] && page.next == nil)
        }
    }

    @Test("An idempotency key stands for one message, even in concurrent requests")
    func idempotency() async throws {
        try await RunningMessageLog.with { log in
            let stored = try await concurrently(20) { _ in try await log.log(.sample(idempotencyKey: "key 1")) }
            #expect(Set(stored.map(\.msiKey)).count == 1)
            let found = try await log.client.request(FindMessage(idempotencyKey: "key 1"), context: .communicator)
            #expect(found.msiKey == stored.first?.msiKey && found.idempotencyKey == "key 1")
            let unknown = [
                await log.client.failure(of: FindMessage(idempotencyKey: "key 2"), context: .communicator),
                await log.client.failure(of: FindMessage(idempotencyKey: "key 1"), context: .ann),
                await log.client.failure(of: GetMessage(msiKey: ObjectID())),
            ]
            #expect(unknown.map { $0?.status } == [.notFound, .notFound, .notFound])
        }
    }

    @Test("A message is logged, found and changed only for the request's actor; a request without an actor is unauthenticated")
    func actor() async throws {
        try await RunningMessageLog.with { log in
            let later = LogMessage.sample(idempotencyKey: "k", sendAt: .now + 60_000)
            let stored = try await log.log(later, context: .ann)
            #expect(stored.sender == "Ann")
            let recall = RecallMessage(msiKey: stored.msiKey)
            let nameless = [
                await log.client.failure(of: LogMessage.sample()), await log.client.failure(of: recall),
                await log.client.failure(of: FindMessage(idempotencyKey: "k")),
                await log.client.failure(of: RetryMessage(msiKey: stored.msiKey)),
            ]
            #expect(nameless.map { $0?.status } == Array(repeating: .unauthenticated, count: 4))
            #expect(nameless.allSatisfy { $0?.message.contains("actor") == true })
            for name in ["", " ", String(repeating: "a", count: 201), "a\u{0}b"] {
                let failure = await log.client.failure(of: recall, context: .init(actor: name))
                #expect(failure?.status == .invalid && failure?.message.hasPrefix("header: actor: ") == true)
            }
            // No payload names the caller.
            for (command, payload, field) in [
                ("message.recall", #"{"msi_key":"\#(stored.msiKey)","by":"Ann"}"#, "by"),
                ("message.find", #"{"sender":"Ann","idempotency_key":"k"}"#, "sender"),
            ] {
                let failure = await log.client.failure(of: command, payload, context: .ann)
                #expect(failure?.status == .invalid && failure?.field == field)
            }
            let page = try await log.client.request(ListMessages(limit: 10))
            #expect(page.messages == [stored])
        }
    }

    @Test("Messages are counted by state, and the oldest one that waits lists its follow-ups")
    func statistics() async throws {
        try await RunningMessageLog.with { log in
            let now = UnixMilliseconds.now
            let first = try await log.log(.sample("first", timestamp: now - 10_000))
            let second = try await log.log(.sample("second") { $0.follows = first.msiKey })
            _ = try await log.log(.sample("later", sendAt: now + 600_000))
            let found = try await log.client.request(CountMessages(edges: [now - 10_000, now - 9_999, now + 600_000]))
            #expect(found.states[.pending] == 3 && found.scheduled == 1)
            #expect(found.buckets.map { $0.states[.pending] } == [1, 2])
            #expect(found.oldestWaiting?.msiKey == first.msiKey && found.oldestWaiting?.followUps == [second.msiKey])
            let other = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            let none = try await log.client.request(CountMessages(edges: [now, now + 1], topics: [other]))
            #expect(none == MessageStatistics(edges: [now, now + 1]))
        }
    }

    @Test("A value that breaks a rule is invalid, and the answer names the field")
    func invalid() async throws {
        try await RunningMessageLog.with { log in
            let wrong: [(String, String, String?)] = [
                ("message.list", #"{"limit":0}"#, "limit"),
                ("message.list", #"{"limit":201}"#, "limit"),
                ("message.list", #"{"limit":5,"before":"7"}"#, "before"),
                ("message.list", "{}", "limit"),
                ("message.get", #"{"msi_key":"5a"}"#, "msi_key"),
                ("message.statistics", #"{"edges":[2,1]}"#, "edges"),
                ("message.statistics", #"{"edges":[1,1]}"#, "edges"),
                ("message.statistics", #"{"edges":[-1,1]}"#, "edges[0]"),
                ("message.statistics", #"{"edges":[\#((0...200).map(String.init).joined(separator: ","))]}"#, "edges"),
                ("message.statistics", #"{"by":"colour"}"#, "by"),
                ("message.statistics", #"{"state":"failed"}"#, "state"),
                ("message.find", #"{"idempotency_key":""}"#, "idempotency_key"),
                ("message.log", "{}", "msi_key"),
                ("message.relay", "{}", nil),
            ]
            for (command, payload, field) in wrong {
                let failure = await log.client.failure(of: command, payload)
                #expect(failure?.status == .invalid && failure?.field == field, "\(command) \(payload): \(failure as Any)")
            }
            let page = try await log.client.request(ListMessages(limit: 200))
            #expect(page.messages.isEmpty)
        }
    }
}

import CommandBus
import Schemas
import TestSupport
import Testing

/// The archive over the service's real socket, with no relay about.
@Suite("Archive over the bus", .timeLimit(.minutes(1)))
struct ArchiveOverTheBusTests {
    @Test("a message that was answered is there after a kill that follows at once")
    func durable() async throws {
        try await withTemporaryFolder { folder in
            let answered = try await RunningMessageLog.with(in: folder) { log in
                let first = try await log.log(.sample("first"))
                // Many at once, cut off in the middle: what was answered before the kill is what counts.
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
                    #expect(stored.draft == message.draft && stored.id == message.id)
                    #expect(stored.relay.state == .pending)
                }
            }
        }
    }

    @Test("the same message twice is one, and another under its key is a conflict")
    func sameKey() async throws {
        try await withTemporaryFolder { folder in
            try await RunningMessageLog.with(in: folder) { log in
                let command = LogMessage.sample()
                let first = try await log.log(command)
                #expect(first.msiKey == command.msiKey && first.draft == command.draft && first.names == command.names)
                #expect(first.sender == "Communicator" && first.timestamp == command.timestamp)
                #expect(first.relay.components.map(\.component) == [.notification, .data])
                let again = try await log.log(command)
                #expect(again.id == first.id)
                let other = await log.client.failure(of: LogMessage.sample("another", msiKey: command.msiKey))
                #expect(other?.status == .conflict && other?.field == "msi_key")
                let page = try await log.client.request(ListMessages(limit: 10))
                #expect(page.messages.map(\.id) == [first.id] && page.next == nil)
            }
        }
    }

    @Test("an idempotency key stands for one message, whoever asks at the same time")
    func idempotency() async throws {
        try await withTemporaryFolder { folder in
            try await RunningMessageLog.with(in: folder) { log in
                let stored = try await withThrowingTaskGroup(of: Message.self) { group in
                    for _ in 0..<20 {
                        group.addTask { try await log.log(.sample(idempotencyKey: "key 1")) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(Set(stored.map(\.msiKey)).count == 1)
                let found = try await log.client.request(FindMessage(sender: "Communicator", idempotencyKey: "key 1"))
                #expect(found.msiKey == stored.first?.msiKey && found.idempotencyKey == "key 1")
                let unknown = [
                    await log.client.failure(of: FindMessage(sender: "Communicator", idempotencyKey: "key 2")),
                    await log.client.failure(of: FindMessage(sender: "Somebody", idempotencyKey: "key 1")),
                    await log.client.failure(of: GetMessage(msiKey: ObjectID())),
                ]
                #expect(unknown.map { $0?.status } == [.notFound, .notFound, .notFound])
            }
        }
    }

    @Test("pages are newest first, without a gap or a double, also while new messages come")
    func pages() async throws {
        try await withTemporaryFolder { folder in
            try await RunningMessageLog.with(in: folder) { log in
                let now = UnixMilliseconds.now
                var logged: [ObjectID] = []
                // Some of the same millisecond.
                for number in 0..<25 {
                    let command = LogMessage.sample("\(number)", timestamp: now + Int64(number / 3))
                    logged.append(try await log.log(command).msiKey)
                }
                var walked: [ObjectID] = []
                var cursor: PageCursor?
                repeat {
                    let page = try await log.client.request(ListMessages(limit: 4, before: cursor))
                    walked += page.messages.map(\.msiKey)
                    cursor = page.next
                    _ = try await log.log(.sample("new", timestamp: now + 1_000_000))
                } while cursor != nil
                #expect(walked == logged.reversed())
            }
        }
    }

    @Test("what breaks a rule is invalid, and the answer names the field")
    func invalid() async throws {
        try await withTemporaryFolder { folder in
            try await RunningMessageLog.with(in: folder) { log in
                let wrong: [(String, String, String?)] = [
                    ("message.list", #"{"limit":0}"#, "limit"),
                    ("message.list", #"{"limit":201}"#, "limit"),
                    ("message.list", #"{"limit":5,"before":"7"}"#, "before"),
                    ("message.list", "{}", "limit"),
                    ("message.get", #"{"msi_key":"5a"}"#, "msi_key"),
                    ("message.find", #"{"sender":"","idempotency_key":"k"}"#, "sender"),
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
}

import Store
import Schemas
import TestSupport
import Testing
import Base

@testable import Archive

/// Cases of MongoDB only: several processes, other programs' documents, and outages of the server.
@Suite("Archive in MongoDB", .timeLimit(.minutes(10)))
struct MongoMessageStoreTests {
    @Test("Several processes share the outbox: each message is leased once, and no change of a record is lost")
    func severalProcesses() async throws {
        try await withMessagePlace(.mongodb) { place in
            let stores = [try await place.open(), try await place.open(), try await place.open()]
            let messages = (0..<60).map { Message.sample("\($0)", at: UnixMilliseconds(rawValue: Int64($0))) }
            for message in messages { _ = try await stores[0].insert(message) }
            let claimed = try await concurrently(12) { number in
                try await whenAvailable {
                    let lease = Lease(owner: "\(number)", until: 10_000)
                    return try await stores[number % 3].claim(MessageStoreTests.claim(5), lease: lease, now: 5_000)
                }
            }.flatMap(\.self)
            #expect(claimed.count == 60)
            #expect(Set(claimed.map(\.key)) == Set(messages.map { OutboxKey.message($0.msiKey) }))

            try await concurrently(45) { number in
                try await whenAvailable {
                    try await stores[number % 3].update(messages[0].msiKey) { record, _ in record.attempts += 1 }
                }
            }
            #expect(try await stores[0].message(messages[0].msiKey)?.relay.attempts == 45)
            for store in stores { try await store.close() }
        }
    }

    @Test("A message whose options or time to live another program has spoilt still reaches phones")
    func spoiltOptions() async throws {
        try await withMessagePlace(.mongodb) { place in
            let store = await MongoMessageStore(url: try #require(place.database), logger: quietLogger)
            var message = Message.sample("storm", at: 5)
            message.relay.accepted = 10
            _ = try await store.insert(message)
            _ = try await store.database.run { [msiKey = message.msiKey] in
                try $0.update(
                    ["msi_key": msiKey.bson], ["$set": ["options": ["image": 5], "ttl": "long", "send_at": "soon"]],
                    in: "message")
            }
            let ofTopic = try await store.accepted([message.topicKey], after: PageCursor(before: 0), limit: 9)
            let ofAll = try await store.accepted(after: PageCursor(before: 0), limit: 9)
            for page in [ofTopic, ofAll] { #expect(page.messages.map(\.message.title) == ["storm"]) }
            await store.close()
        }
    }

    @Test("Documents that are not messages are left out of pages, claims and retention, and named in the log once")
    func unreadableDocuments() async throws {
        try await withMessagePlace(.mongodb) { place in
            let url = try #require(place.database)
            let log = RecordedLog()
            let store = await MongoMessageStore(url: url, logger: log.logger)
            let messages = (0..<6).map { Message.sample("\($0)", at: UnixMilliseconds(rawValue: Int64(1_000 + $0))) }
            for message in messages { _ = try await store.insert(message) }
            let database = await MongoDatabase.open(url, application: "test", logger: quietLogger)
            let topic = messages[0].topicKey
            let relays: [BSONDocument] = [
                ["state": "pending", "next_attempt": .int64(1), "components": "none", "revision": .int64(0)],
                ["state": "pending", "next_attempt": .int64(2), "attempts": .int64(0), "components": [], "revision": "one"],
                ["state": "pending", "next_attempt": .int64(3), "attempts": .int64(0), "components": [], "revision": .int64(0)],
            ]
            let keys = [ObjectID(), ObjectID()]
            let strangers = keys.map(\.bson) + ["its own name"]
            try await database.run { connection in
                for (index, (id, relay)) in zip(strangers, relays).enumerated() {
                    let document: BSONDocument = [
                        "_id": id, "msi_key": ObjectID().bson, "title": "stranger", "desc": "d", "message": "m",
                        "topic_key": topic.bson, "distribution": "Alert", "sender": "Communicator",
                        "timestamp": .int64(1_004 - Int64(index)), "relay": .document(relay),
                    ]
                    let errors = try connection.insert([document], into: "message")
                    #expect(errors == [nil])
                }
                let noTopic: BSONDocument = [
                    "_id": ObjectID().bson, "msi_key": ObjectID().bson, "topic_key": "nowhere", "distribution": "Alert",
                    "relay": ["next_attempt": .int64(0)],
                ]
                let errors = try connection.insert([noTopic], into: "message")
                #expect(errors == [nil])
            }

            #expect(try await MessageStoreTests().walk(store, limit: 2) == ["5", "4", "3", "2", "1", "0"])
            let claim = Claim(.high, limit: 20, maxPerKey: 1)
            var claimed: Set<String> = []
            for _ in 0..<3 {
                claimed.formUnion(
                    try await store.claim(claim, lease: Lease(owner: "o", until: 9_000), now: 2_000).compactMap(\.message?.title))
            }
            #expect(claimed == ["0", "1", "2", "3", "4", "5"])
            for message in messages {
                try await store.update(message.msiKey) { record, _ in (record.state, record.nextAttempt) = (.relayed, nil) }
            }
            try await database.run { connection in
                _ = try connection.update(
                    ["_id": "its own name"], ["$unset": ["relay.next_attempt": ""]], in: "message")
            }
            #expect(try await store.removeArchived(before: 5_000, limit: 10) == 6)
            for name in keys.map(\.description) + ["its own name"] {
                #expect(log.louderThanDebug.count { $0.contains(name) } == 1, "\(name)")
            }
            // A copy of the archive must not leave them out silently.
            let strict = await MongoMessageStore(url: url, unreadable: .refused, logger: quietLogger)
            await #expect(throws: CommandFailure.self) { try await strict.page(MessageFilter(), before: nil, limit: 9) }
            await strict.close()
            await store.close()
            await database.close()
        }
    }

    @Test(
        "Two documents with one key do no harm: both are shown, one is sent, and new messages are stored once"
    )
    func duplicates() async throws {
        try await withMessagePlace(.mongodb) { place in
            let url = try #require(place.database)
            let database = await MongoDatabase.open(url, application: "test", logger: quietLogger)
            let first = await MongoMessageStore(url: url, logger: quietLogger)
            let messages = (0..<3).map {
                Message.sample("\($0)", at: UnixMilliseconds(rawValue: Int64(1_000 + $0)), key: "\($0)")
            }
            for message in messages { _ = try await first.insert(message) }
            await first.close()
            try await database.run { connection in
                for index in ["key", "idempotency"] {
                    _ = try connection.write(["dropIndexes": "message", "index": .string(index)])
                }
                // A second copy of every message, with another `_id`, as after a careless copy of the collection.
                let copies = try connection.find([:], in: "message").map { document in
                    let fields = try BSONFields(document)
                    let names = [
                        "msi_key", "title", "desc", "message", "topic_key", "distribution", "sender", "timestamp", "names",
                        "expires", "idempotency_key", "relay",
                    ]
                    return BSONDocument([("_id", ObjectID().bson)] + (try names.map { ($0, try fields[$0] ?? .null) }))
                }
                let errors = try connection.insert(copies, into: "message")
                #expect(errors == [nil, nil, nil])
                // Another program has also stored the first message, with a lower `_id`.
                let foreign: BSONDocument = [
                    "_id": try #require(ObjectID("000000000000000000000000")).bson, "msi_key": messages[0].msiKey.bson,
                    "title": "foreign", "desc": "d", "message": "m", "topic_key": messages[0].topicKey.bson,
                    "distribution": "Alert", "sender": "Communicator", "timestamp": .int64(999),
                ]
                #expect(try connection.insert([foreign], into: "message") == [nil])
            }

            let log = RecordedLog()
            let store = await MongoMessageStore(url: url, logger: log.logger)
            #expect(log.louderThanDebug.contains { $0.contains("have the same key") && $0.contains("msi_key") })
            #expect(try await store.page(MessageFilter(), before: nil, limit: 50).count == 7)
            for message in messages { #expect(try await store.message(message.msiKey)?.id == message.id) }
            // Each message is claimed once, and again only after the lease has ended.
            for now: UnixMilliseconds in [5_000, 10_000] {
                var claimed: [Message] = []
                for _ in 0..<3 {
                    let claim = Claim(.high, limit: 20, maxPerKey: 20)
                    claimed += try await store.claim(claim, lease: Lease(owner: "o", until: now + 4_000), now: now).compactMap(
                        \.message)
                }
                #expect(Set(claimed.map(\.id)) == Set(messages.map(\.id)) && claimed.count == 3)
            }
            try await store.update(messages[0].msiKey) { record, _ in (record.state, record.nextAttempt) = (.relayed, nil) }
            #expect(try await store.message(messages[0].msiKey)?.relay.state == .relayed)
            let again = Claim(.high, limit: 20, maxPerKey: 20)
            #expect(
                Set(try await store.claim(again, lease: Lease(owner: "o", until: .max), now: 20_000).compactMap(\.message?.id))
                    == Set(messages[1...].map(\.id)))
            // A new message is stored once, even if it is inserted several times.
            let new = Message.sample("new", at: 2_000, key: "new")
            let stored = try await concurrently(20) { number in
                try await store.insert(number % 2 == 0 ? new : .sample("other", at: 2_000, key: "new")) == nil
            }
            #expect(stored.count(where: \.self) == 1)
            #expect(try await store.page(MessageFilter(), before: nil, limit: 50).count == 8)
            await store.close()
            await database.close()
        }
    }

    @Test("A message that another program has written is read as relayed and found, and can get a record")
    func foreignDocuments() async throws {
        try await withMessagePlace(.mongodb) { place in
            let url = try #require(place.database)
            let database = await MongoDatabase.open(url, application: "test", logger: quietLogger)
            let sample = Message.sample("old", at: 0)
            let foreign: BSONDocument = [
                "_id": sample.id.bson, "msi_key": sample.msiKey.bson, "title": "old", "desc": "d", "message": "m",
                "topic_key": sample.topicKey.bson, "distribution": "Alert", "sender": "Communicator", "timestamp": .double(1_234),
            ]
            try await database.run { connection in
                let errors = try connection.insert([foreign], into: "message")
                #expect(errors == [nil])
            }
            let store = try await place.open()
            let read = try #require(try await store.message(sample.msiKey))
            #expect(read.timestamp == 1_234 && read.relay.state == .relayed)
            var filter = MessageFilter()
            filter.state = .relayed
            #expect(try await store.page(filter, before: nil, limit: 5) == [read])
            let record = RelayRecord(logged: .alert, due: 7)
            let updated = try await store.update(sample.msiKey) { stored, _ in stored = record }
            #expect(updated?.relay == record)
            let claimed = try await store.claim(
                Claim(.high, limit: 5, maxPerKey: 5), lease: Lease(owner: "o", until: 10_000), now: 7)
            #expect(claimed.map(\.key) == [.message(sample.msiKey)])
            try await store.close()
            await database.close()
        }
    }

    @Test("The documents in message have the fields and types of the data dictionary")
    func dataDictionary() async throws {
        let url = try await MongoServer.shared.url()
        let store = await MongoMessageStore(url: try MongoURL(url), logger: quietLogger)
        var messages = (0..<6).map {
            Message.sample("\($0)", at: 1_763_712_000_000 + Milliseconds(rawValue: Int64($0)), key: "\($0)")
        }
        (messages[3].content.delay, messages[3].content.drill, messages[3].approval) = (30, true, true)
        (messages[3].content.follows, messages[3].content.template) = (messages[0].msiKey, ObjectID())
        messages[3].content.values = ["room": "B 12"]
        (messages[2].content.follows, messages[2].content.correction) = (messages[0].msiKey, true)
        messages[2].traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        messages[2].content.options = DeliveryOptions(
            image: "https://example.edu/a.png", collapseKey: "c", analyticsLabel: "l", android: .init(channelID: "a"),
            apns: .init(category: "c"))
        messages[3].relay = RelayRecord(held: .alert, until: .max)
        let send = MessageAudit(.send, by: AuditAuthor(actor: "Ann", address: "192.0.2.7"))
        for message in messages { _ = try await store.insert(message, audit: send) }
        let claim = Claim(.high, limit: 2, maxPerKey: 1)
        #expect(try await store.claim(claim, lease: Lease(owner: "o", until: .max), now: .now).count == 2)
        let error = DeliveryError(class: .retryable, code: "QUOTA", message: "wait", retryAfter: 5_000)
        let components = [
            ComponentRecord(component: .notification, state: .accepted, name: "projects/p/messages/1", acceptedAt: 7),
            ComponentRecord(component: .data, error: error),
        ]
        try await store.update(messages[4].msiKey) { record, _ in
            (record.state, record.attempts, record.components, record.accepted) = (.retrying, 1, components, 7)
        }
        try await store.update(messages[5].msiKey) { record, _ in
            (record.state, record.nextAttempt) = (.recalled, nil)
            record.trace = [.approve, .recall].map { Intervention(action: $0, at: .now, by: "Ann") }
        }
        let output = try await PythonScript.run("check_collections.py", [url, "message", "6"])
        #expect(output.contains("message: 6 documents are as the data dictionary says"))
        await store.close()
    }

    @Test("An archive of a format that this version does not know is refused unchanged, and the log has both numbers")
    func unknownFormat() async throws {
        try await withMessagePlace(.mongodb) { place in
            let message = Message.sample("T", at: 0)
            let first = try await place.open()
            _ = try await first.insert(message)
            try await first.close()
            let url = try #require(place.database)
            let database = await MongoDatabase.open(url, application: "test", logger: quietLogger)
            func set(_ number: Int64) async throws {
                try await database.run {
                    _ = try $0.update(["_id": "message-log"], ["$set": ["number": .int64(number)]], in: "format")
                }
            }
            // That of a later version, and that of versions before 1.0.0.
            for number: Int64 in [3, 1] {
                try await set(number)
                let log = RecordedLog()
                let refused = await MongoMessageStore(url: url, logger: log.logger)
                await #expect(throws: CommandFailure.self) { try await refused.message(message.msiKey) }
                #expect(log.louderThanDebug.contains { $0.contains("the format \(number)") && $0.contains("it knows is 2") })
                await refused.close()
            }
            try await set(2)
            let store = try await place.open()
            #expect(try await store.message(message.msiKey) == message)
            try await store.close()
            await database.close()
        }
    }

    @Test("Without a server every call fails at once; when the server comes, the indexes are created and everything works")
    func awayAtStart() async throws {
        try await withMongoServer { server in
            await server.kill()
            let store = await MongoMessageStore(url: try MongoURL(server.url()), logger: quietLogger)
            let message = Message.sample("T", at: 0, key: "k")
            func isUnavailable(_ body: () async throws -> Void) async throws -> Bool {
                do {
                    try await body()
                    return false
                } catch let failure as CommandFailure {
                    return failure.status == .unavailable
                }
            }
            let start = ContinuousClock.now
            #expect(try await isUnavailable { try await store.check() })
            #expect(try await isUnavailable { _ = try await store.insert(message) })
            #expect(try await isUnavailable { _ = try await store.page(MessageFilter(), before: nil, limit: 1) })
            for _ in 0..<100 { #expect(try await isUnavailable { try await store.check() }) }
            // Each would wait for seconds if it tried.
            #expect(ContinuousClock.now - start < .seconds(60))
            try await server.restart()
            try await eventually { try await !isUnavailable { _ = try await store.insert(message) } }
            try await store.check()
            // The sender's key is unique by an index.
            #expect(try await store.insert(.sample("other", at: 0, key: "k"))?.msiKey == message.msiKey)
            await store.close()
        }
    }
}

extension Message {
    /// A message to a topic that no other one has.
    fileprivate static func sample(_ title: String, at timestamp: UnixMilliseconds, key: String? = nil) -> Message {
        let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        return MessageStoreTests.message(title, at: timestamp, key: key, topic: topic)
    }
}

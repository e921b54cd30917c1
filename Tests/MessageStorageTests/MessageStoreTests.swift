import Logging
import Schemas
import TestSupport
import Testing

@testable import MessageStorage

/// What every archive has to do, whatever database is behind it.
@Suite("Message store", .timeLimit(.minutes(2)))
struct MessageStoreTests {
    private static let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private static func message(
        _ title: String = "T", text: String = "😀\n", at timestamp: UnixMilliseconds = 1_000,
        expires: UnixMilliseconds = 9_000_000, key: String? = nil,
        sender: String = "Communicator", topic: TopicKey = topic, distribution: Distribution = .alert, ttl: Int64? = nil,
        sendAt: UnixMilliseconds? = nil, options: DeliveryOptions? = nil, lease: Lease? = nil
    ) -> Message {
        Message(
            msiKey: ObjectID(),
            draft: MessageDraft(
                title: title, desc: "ابق \"q\"", message: text, topicKey: topic, distribution: distribution, ttl: ttl,
                sendAt: sendAt, options: options),
            sender: sender, timestamp: timestamp, names: CubeNames(channel: "C", area: "A", subject: "S"), expires: expires,
            idempotencyKey: key, relay: RelayRecord(logged: distribution, due: sendAt ?? timestamp, lease: lease))
    }

    /// A claim of alerts without any limit but its own.
    private static func claim(_ limit: Int) -> Claim {
        Claim(.alert, limit: limit, mostPerTopic: limit)
    }

    /// Brings messages to their end.
    private func finish(
        _ messages: [Message], in store: any MessageStore, as state: RelayState = .relayed, at ended: UnixMilliseconds = 1
    ) async throws {
        for message in messages {
            try await store.update(message.msiKey) { record, _ in
                record.state = state
                record.nextAttempt = nil
                record.ended = ended
            }
        }
    }

    private func titles(_ store: any MessageStore, _ change: (inout MessageFilter) -> Void) async throws -> [String] {
        var filter = MessageFilter()
        change(&filter)
        return try await store.page(filter, before: nil, limit: 100).map(\.title)
    }

    @Test("a message is read back as it was stored", arguments: StoreKind.allCases)
    func roundTrip(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let options = DeliveryOptions(
                image: "https://cdn.test/a.png", collapseKey: "k", analyticsLabel: "l", android: .init(channelID: "c"),
                apns: .init(category: "A"))
            let message = Self.message(key: "k", ttl: 60, sendAt: 2_000, options: options, lease: Lease(owner: "o", until: 5))
            let known = try await store.insert(message)
            #expect(known == nil)
            #expect(try await store.message(message.msiKey) == message)
            #expect(try await store.message(ObjectID()) == nil)
            let some = Self.message(options: DeliveryOptions(collapseKey: "k"))
            _ = try await store.insert(some)
            #expect(try await store.message(some.msiKey) == some)
        }
    }

    @Test("a message that would be refused today is still read, and relayed", arguments: StoreKind.allCases)
    func formerRules(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message(options: DeliveryOptions(image: "https://", collapseKey: "two words"))
            _ = try await store.insert(message)
            #expect(try await store.message(message.msiKey) == message)
            let claimed = try await store.claim(
                Claim(message.distribution, limit: 1, mostPerTopic: 1), lease: Lease(owner: "o", until: .max), now: .now)
            #expect(claimed.map(\.draft.options) == [message.draft.options])
        }
    }

    @Test("the same msi_key or idempotency key is stored once, also when they come at once", arguments: StoreKind.allCases)
    func idempotent(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message(key: "k")
            let results = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await store.insert(message) == nil }
                    group.addTask { try await store.insert(Self.message("other", key: "k")) == nil }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.filter { $0 }.count == 1)
            #expect(try await store.page(MessageFilter(), before: nil, limit: 10).count == 1)
            // A key is its sender's own.
            #expect(try await store.insert(Self.message(key: "k", sender: "Super User")) == nil)
            #expect(try await store.message(of: "Super User", idempotencyKey: "k")?.sender == "Super User")
            #expect(try await store.message(of: "Nobody", idempotencyKey: "k") == nil)
        }
    }

    @Test(
        "pages go from the newest to the oldest, without gaps or doubles, also among equal timestamps",
        arguments: StoreKind.allCases)
    func pages(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var stored: [Message] = []
            for number in 0..<25 { stored.append(Self.message("\(number)", at: Int64(1_000 + number / 5))) }
            // Whatever order they come in.
            for message in stored.shuffled() { _ = try await store.insert(message) }
            var seen: [ObjectID] = []
            var cursor: PageCursor?
            while case let page = try await store.page(MessageFilter(), before: cursor, limit: 4), let last = page.last {
                seen += page.map(\.msiKey)
                cursor = PageCursor(timestamp: last.timestamp, msiKey: last.msiKey)
                // What comes in meanwhile belongs to the first page.
                _ = try await store.insert(Self.message("new", at: 5_000))
            }
            #expect(seen.count == stored.count)
            #expect(seen == Self.inOrder(stored).map(\.msiKey))
        }
    }

    /// From the newest to the oldest, as every store has them.
    private static func inOrder(_ messages: [Message]) -> [Message] {
        messages.sorted { ($0.timestamp, $0.msiKey.description) > ($1.timestamp, $1.msiKey.description) }
    }

    @Test(
        "what cannot be read is left out of pages, claims and retention, is named in the log once, and keeps nothing else back",
        arguments: StoreKind.allCases)
    func unreadable(_ kind: StoreKind) async throws {
        try await withMessagePlace(kind) { place in
            let log = RecordedLog()
            let store = try await place.open(logger: log.logger)
            let messages = (0..<8).map { Self.message("\($0)", text: "secret", at: Int64(1_000 + $0 / 3)) }
            for message in messages { _ = try await store.insert(message) }
            let spoilt = [
                (0, "components", "relay.components"), (3, "distribution", "distribution"), (4, "names", "names"),
                (5, "topicKey", "topic_key"),
            ]
            for (index, column, field) in spoilt {
                try await place.spoil(messages[index].msiKey, column: column, field: field)
            }
            let good = [1, 2, 6, 7].map { messages[$0] }

            for limit in 1...5 {
                var seen: [String] = []
                var cursor: PageCursor?
                while case let page = try await store.page(MessageFilter(), before: cursor, limit: limit), let last = page.last {
                    seen += page.map(\.title)
                    cursor = PageCursor(timestamp: last.timestamp, msiKey: last.msiKey)
                }
                #expect(seen == Self.inOrder(good).map(\.title))
            }
            // The unreadable one is the longest due, and out of the others' way once it is leased.
            var claimed: [String] = []
            for _ in 0..<6 {
                let claim = Claim(.alert, limit: 20, mostPerTopic: 1)
                claimed += try await store.claim(claim, lease: Lease(owner: "o", until: 9_000), now: 2_000).map(\.title)
            }
            #expect(claimed.sorted() == good.map(\.title))
            #expect(try await store.message(messages[1].msiKey)?.relay.lease?.owner == "o")
            try await finish(good, in: store)
            #expect(try await store.removeArchived(before: 5_000, limit: 10) == 4)
            #expect(try await store.page(MessageFilter(), before: nil, limit: 10).isEmpty)
            let lines = log.lines.filter { $0.level == .error }.map(\.text)
            // Four messages, and the topic key of one of them.
            #expect(Set(lines).count == lines.count && lines.count <= 5, "\(lines)")
            if kind == .sqlite {
                for (index, _, _) in spoilt {
                    #expect(lines.count { $0.contains(messages[index].msiKey.description) } == 1, "\(lines)")
                }
            }
            #expect(!lines.contains { $0.contains("secret") }, "\(lines)")
            let error = await #expect(throws: (any Error).self) { try await store.message(messages[0].msiKey) }
            #expect(error.map { !"\($0)".contains("secret") } == true, "\(String(describing: error))")

            // Whoever copies the archive has to know.
            let strict = try await place.open(unreadable: .refused)
            await #expect(throws: CommandFailure.self) { try await strict.page(MessageFilter(), before: nil, limit: 9) }
            try await strict.close()
            try await store.close()
        }
    }

    @Test("a cursor that names no stored message gives what sorts before it by time and key", arguments: StoreKind.allCases)
    func strangeCursors(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            for number in 0..<4 { _ = try await store.insert(Self.message("\(number)", at: Int64(1_000 + number / 2))) }
            let (first, last) = (ObjectID("000000000000000000000000")!, ObjectID("ffffffffffffffffffffffff")!)
            func titles(before timestamp: UnixMilliseconds, _ key: ObjectID) async throws -> Set<String> {
                let cursor = PageCursor(timestamp: timestamp, msiKey: key)
                return Set(try await store.page(MessageFilter(), before: cursor, limit: 9).map(\.title))
            }
            #expect(try await titles(before: maximumUnixMilliseconds, last) == ["0", "1", "2", "3"])
            #expect(try await titles(before: 1_001, last) == ["0", "1", "2", "3"])
            #expect(try await titles(before: 1_001, first) == ["0", "1"])
            #expect(try await titles(before: 1_000, last) == ["0", "1"])
            #expect(try await titles(before: 1_000, first) == [])
            #expect(try await titles(before: 0, last) == [])
            // The page that it ended has been removed meanwhile.
            let page = try await store.page(MessageFilter(), before: nil, limit: 2)
            try await finish(page, in: store)
            #expect(try await store.removeArchived(before: 2_000, limit: 2) == 2)
            #expect(try await titles(before: 1_001, page[1].msiKey) == ["0", "1"])
        }
    }

    @Test("of many claimants at once each message has one; a lease that is over frees it", arguments: StoreKind.allCases)
    func claims(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            for number in 0..<50 { _ = try await store.insert(Self.message("\(number)")) }
            let claimed = try await withThrowingTaskGroup(of: [Message].self) { group in
                for owner in 0..<10 {
                    group.addTask {
                        try await store.claim(Self.claim(8), lease: Lease(owner: "\(owner)", until: 10_000), now: 2_000)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claimed.count == 50)
            #expect(Set(claimed.map(\.msiKey)).count == 50)
            #expect(claimed.allSatisfy { $0.relay.lease?.until == 10_000 && $0.relay.nextAttempt == 10_000 })
            for message in claimed { #expect(try await store.message(message.msiKey) == message) }

            let late = Lease(owner: "late", until: 20_000)
            #expect(try await store.claim(Self.claim(100), lease: late, now: 9_999).isEmpty)
            #expect(try await store.claim(Self.claim(100), lease: late, now: 10_000).count == 50)
        }
    }

    @Test("an owner's leases are given up, and nobody else's", arguments: StoreKind.allCases)
    func releases(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let mine = Self.message("mine", lease: Lease(owner: "me", until: 10_000))
            let theirs = Self.message("theirs", lease: Lease(owner: "me too", until: 10_000))
            for message in [mine, theirs] { _ = try await store.insert(message) }
            try await store.releaseLeases(of: "me", now: 5_000)
            let lease = Lease(owner: "next", until: 30_000)
            #expect(try await store.claim(Self.claim(9), lease: lease, now: 4_999).isEmpty)
            #expect(try await store.claim(Self.claim(9), lease: lease, now: 5_000).map(\.title) == ["mine"])
        }
    }

    @Test(
        "what has expired and is neither leased nor at its end is found, the first to expire first",
        arguments: StoreKind.allCases)
    func expired(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let first = Self.message("first", expires: 2_000)
            let second = Self.message("second", expires: 3_000, distribution: .information)
            let waiting = Self.message("waiting", expires: 2_500, sendAt: 50_000)
            let leased = Self.message("leased", expires: 2_000, lease: Lease(owner: "o", until: 3_001))
            let lapsed = Self.message("lapsed", expires: 2_900, lease: Lease(owner: "o", until: 3_000))
            let done = Self.message("done", expires: 2_000)
            let later = Self.message("later", expires: 3_001)
            for message in [second, first, waiting, leased, lapsed, done, later] { _ = try await store.insert(message) }
            try await finish([done], in: store)
            let found = try await store.expired(by: 3_000, limit: 9)
            #expect(found == [first, waiting, lapsed, second].map(\.msiKey))
            #expect(try await store.expired(by: 3_000, limit: 2) == [first, waiting].map(\.msiKey))
        }
    }

    @Test("what waits for a later moment is found, where a condition is true of it", arguments: StoreKind.allCases)
    func waiting(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let due = Self.message("due", at: 1_000)
            let scheduled = Self.message("scheduled", sendAt: 50_000)
            let leased = Self.message("leased", distribution: .information, lease: Lease(owner: "o", until: 3_000))
            let done = Self.message("done", at: 60_000)
            for message in [due, scheduled, leased, done] { _ = try await store.insert(message) }
            try await finish([done], in: store)
            let all = try await store.waiting(after: 1_000) { _ in true }
            #expect(Set(all) == Set([scheduled, leased].map(\.msiKey)))
            #expect(try await store.waiting(after: 1_000) { $0.relay.lease != nil } == [leased.msiKey])
        }
    }

    @Test(
        "only what is due is claimed, the longest due first, and never what is final or of the other distribution",
        arguments: StoreKind.allCases)
    func due(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let late = Self.message("late", at: 3_000)
            let early = Self.message("early", at: 1_000)
            let scheduled = Self.message("scheduled", at: 1_000, sendAt: 50_000)
            let silent = Self.message("silent", at: 1_000, distribution: .information)
            let done = Self.message("done", at: 500)
            for message in [late, early, scheduled, silent, done] { _ = try await store.insert(message) }
            try await finish([done], in: store)
            let lease = Lease(owner: "o", until: 100_000)
            #expect(try await store.claim(Self.claim(5), lease: lease, now: 999).isEmpty)
            #expect(try await store.claim(Self.claim(1), lease: lease, now: 3_000).map(\.title) == ["early"])
            #expect(try await store.claim(Self.claim(5), lease: lease, now: 3_000).map(\.title) == ["late"])
            let information = Claim(.information, limit: 5, mostPerTopic: 5)
            #expect(try await store.claim(information, lease: lease, now: 3_000).map(\.title) == ["silent"])
            #expect(try await store.claim(Self.claim(5), lease: lease, now: 50_000).map(\.title) == ["scheduled"])
        }
    }

    @Test(
        "a flooded topic leaves every other one its share, and no topic gets more than there is room for",
        arguments: StoreKind.allCases)
    func fairness(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let topics = (0..<4).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
            for number in 0..<60 { _ = try await store.insert(Self.message("flood", at: Int64(number), topic: topics[0])) }
            for topic in topics[1...] {
                for number in 0..<5 { _ = try await store.insert(Self.message("late", at: Int64(500 + number), topic: topic)) }
            }
            var claim = Claim(.alert, limit: 20, mostPerTopic: 10, room: [topics[3]: 2])
            let lease = Lease(owner: "o", until: 10_000)
            let first = try await store.claim(claim, lease: lease, now: 1_000)
            let counts = topics.map { topic in first.filter { $0.topicKey == topic }.count }
            #expect(counts == [8, 5, 5, 2])
            // Within a topic the longest due come first.
            #expect(first.filter { $0.topicKey == topics[0] }.map(\.timestamp).sorted() == Array(0..<8))

            claim.room[topics[0]] = 0
            let second = try await store.claim(claim, lease: lease, now: 1_000)
            #expect(second.map(\.topicKey) == [topics[3], topics[3]])
        }
    }

    @Test("changes of a record at the same time are all kept; one that is refused changes nothing", arguments: StoreKind.allCases)
    func updates(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message()
            _ = try await store.insert(message)
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask { try await store.update(message.msiKey) { record, _ in record.attempts += 1 } }
                }
                try await group.waitForAll()
            }
            #expect(try await store.message(message.msiKey)?.relay.attempts == 100)
            await #expect(throws: CommandFailure(.conflict, "no")) {
                try await store.update(message.msiKey) { record, stored in
                    #expect(stored.msiKey == message.msiKey)
                    record.attempts = 7
                    throw CommandFailure(.conflict, "no")
                }
            }
            #expect(try await store.message(message.msiKey)?.relay.attempts == 100)
            #expect(try await store.update(ObjectID()) { record, _ in record.attempts += 1 } == nil)
        }
    }

    @Test("what became of every component, and who did what, is read back as it was written", arguments: StoreKind.allCases)
    func record(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message()
            _ = try await store.insert(message)
            let record = RelayRecord(
                state: .recalled, attempts: 3, nextAttempt: nil, lease: nil, ended: 7,
                components: [
                    ComponentRecord(component: .notification, state: .accepted, name: "projects/p/messages/1"),
                    ComponentRecord(
                        component: .data, state: .recalled,
                        error: ComponentError(class: .retryable, code: "QUOTA", message: "wait", retryAfter: 5_000)),
                ],
                trace: [Intervention(action: .retry, at: 5, by: "Ann"), Intervention(action: .recall, at: 6, by: "Ben")])
            let updated = try await store.update(message.msiKey) { stored, _ in stored = record }
            #expect(updated?.relay == record)
            #expect(try await store.message(message.msiKey)?.relay == record)
        }
    }

    @Test("every filter leaves what it says, alone and together with others, newest first", arguments: StoreKind.allCases)
    func filters(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (campus, library, sports) = (ObjectID(), ObjectID(), ObjectID())
            let (hours, loans, matches) = (ObjectID(), ObjectID(), ObjectID())
            func topic(_ area: ObjectID, _ subject: ObjectID) -> TopicKey {
                TopicKey(channel: campus, area: area, subject: subject)
            }
            let messages = [
                Self.message("1", at: 1_000, topic: topic(library, hours)),
                Self.message("2", at: 2_000, sender: "Super User", topic: topic(library, loans)),
                Self.message("3", at: 3_000, topic: topic(sports, matches)),
                Self.message("4", at: 4_000),
                Self.message("5", at: 5_000, sender: "Super User", topic: topic(library, hours)),
            ]
            for message in messages { _ = try await store.insert(message) }
            try await finish([messages[0], messages[2]], in: store)
            try await finish([messages[4]], in: store, as: .failed)

            #expect(try await titles(store) { _ in } == ["5", "4", "3", "2", "1"])
            #expect(try await titles(store) { $0.channel = campus } == ["5", "3", "2", "1"])
            #expect(try await titles(store) { $0.area = library } == ["5", "2", "1"])
            #expect(try await titles(store) { $0.subject = hours } == ["5", "1"])
            #expect(try await titles(store) { $0.sender = "Super User" } == ["5", "2"])
            #expect(try await titles(store) { $0.state = .relayed } == ["3", "1"])
            #expect(try await titles(store) { $0.state = .failed } == ["5"])
            #expect(try await titles(store) { $0.state = .pending } == ["4", "2"])
            #expect(try await titles(store) { ($0.from, $0.to) = (2_000, 4_000) } == ["3", "2"])
            #expect(try await titles(store) { ($0.area, $0.sender, $0.to) = (library, "Super User", 5_000) } == ["2"])
            #expect(try await titles(store) { ($0.channel, $0.state) = (sports, .failed) } == [])
        }
    }

    @Test(
        "a search finds whole words of title, description and text in any case, all of them, and beginnings with a star",
        arguments: StoreKind.allCases)
    func search(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let texts = [
                ("Exam moved", "Room B12, not the old one."), ("Library closed", "Übung fällt aus; 休講です"),
                ("EXAMS", "The exam's room: b12"), ("Storm", "It's 100% closed (O'Neil)"),
            ]
            for (number, text) in texts.enumerated() {
                _ = try await store.insert(Self.message(text.0, text: text.1, at: Int64(1_000 + number)))
            }
            func found(_ query: String) async throws -> [String] {
                try await titles(store) { $0.text = SearchQuery(query) }
            }
            #expect(try await found("exam") == ["EXAMS", "Exam moved"])
            #expect(try await found("ROOM b12 moved") == ["Exam moved"])
            #expect(try await found("exams") == ["EXAMS"])
            #expect(try await found("exam* room") == ["EXAMS", "Exam moved"])
            #expect(try await found("übung") == ["Library closed"])
            #expect(try await found("講") == ["Library closed"])
            #expect(try await found("ابق").count == 4)
            #expect(try await found("clos") == [])
            #expect(try await found("clos*") == ["Storm", "Library closed"])
            #expect(try await found("o'neil") == ["Storm"])
            #expect(try await found("\"closed\" AND -exam") == [])
            var filter = MessageFilter()
            filter.text = SearchQuery("closed")
            let first = try await store.page(filter, before: nil, limit: 1)
            #expect(first.map(\.title) == ["Storm"])
            let cursor = first.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) }
            #expect(try await store.page(filter, before: cursor, limit: 1).map(\.title) == ["Library closed"])
        }
    }

    @Test(
        "old messages whose end has come are removed, the oldest first, and are not found any more; the others stay",
        arguments: StoreKind.allCases)
    func retention(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let old = (0..<5).map { Self.message("old \($0)", text: "word", at: Int64(100 + $0)) }
            let outstanding = Self.message("outstanding", text: "word", at: 50)
            let late = Self.message("ended later", text: "word", at: 60)
            let new = Self.message("new", text: "word", at: 1_000)
            for message in old + [outstanding, late, new] { _ = try await store.insert(message) }
            try await finish(old + [new], in: store)
            try await finish([late], in: store, at: 1_000)

            #expect(try await store.removeArchived(before: 1_000, limit: 3) == 3)
            #expect(try await titles(store) { _ in } == ["new", "old 4", "old 3", "ended later", "outstanding"])
            #expect(try await store.removeArchived(before: 1_000, limit: 3) == 2)
            #expect(try await store.removeArchived(before: 1_000, limit: 3) == 0)
            #expect(try await titles(store) { $0.text = SearchQuery("word") } == ["new", "ended later", "outstanding"])
            #expect(try await store.message(old[0].msiKey) == nil)
        }
    }

    @Test("the size grows with the messages", arguments: StoreKind.allCases)
    func size(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let before = try await store.size()
            let text = String(repeating: "lorem ipsum ", count: 120)
            for number in 0..<200 { _ = try await store.insert(Self.message("\(number)", text: text, at: Int64(number))) }
            let after = try await store.size()
            #expect(after - before > 200 * 1_000, "\(before) to \(after)")
        }
    }
}

import GRDB
import Schemas
import Store
import TestSupport
import Testing
import Base

@testable import Archive

/// The full-text index of the archive in SQLite, which follows the insertions.
@Suite("Message index", .timeLimit(.minutes(10)))
struct MessageIndexTests {
    /// When the index gets the words of a message that is edited or removed.
    enum Order: CaseIterable {
        case before, after
        /// It has read the texts before, and adds the words afterwards.
        case around
    }

    private func open(_ folder: String, _ log: RecordedLog = RecordedLog()) throws -> SQLiteMessageStore {
        try SQLiteMessageStore(path: folder + "/message-log.sqlite", logger: log.logger)
    }

    /// Runs a test with a store that indexes nothing by itself.
    private func withUnindexedStore(_ body: (SQLiteMessageStore) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let store = try open(folder)
            await store.indexer.close()
            try await body(store)
            try await store.close()
        }
    }

    /// Runs a change, with the index's work before, after or around it.
    private func index(_ order: Order, _ store: SQLiteMessageStore, _ change: () async throws -> Void) async throws {
        if order == .before { try await add(read(store), to: store) }
        let messages = try await read(store)
        try await change()
        try await add(order == .around ? messages : read(store), to: store)
    }

    private func read(_ store: SQLiteMessageStore) async throws -> UnindexedMessages {
        try await store.database.read { try UnindexedMessages(first: 1_000, in: $0) }
    }

    private func add(_ messages: UnindexedMessages, to store: SQLiteMessageStore) async throws {
        try await store.database.write { try messages.addWords(in: $0) }
    }

    private func found(_ words: String, in store: any MessageStore) async throws -> [String] {
        var filter = MessageFilter()
        filter.text = SearchQuery(words)
        return try await store.page(filter, before: nil, limit: 1_000).map(\.title)
    }

    /// The number of a word's entries in the index, also those of messages that no search shows.
    private func entries(_ word: String, in store: SQLiteMessageStore) async throws -> Int? {
        try await store.database.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM messageText WHERE messageText MATCH ?", arguments: [word])
        }
    }

    private func end(_ messages: [Message], in store: any MessageStore) async throws {
        for message in messages {
            try await store.update(message.msiKey) { record, _ in
                (record.state, record.nextAttempt, record.ended) = (.relayed, nil, 1)
            }
        }
    }

    @Test("An edited message is found by its new words only, whenever the index gets to it", arguments: Order.allCases)
    func edit(_ order: Order) async throws {
        try await withUnindexedStore { store in
            let message = MessageStoreTests.message("Storm", text: "shelter")
            _ = try await store.insert(message)
            try await index(order, store) {
                try await store.edit(message.msiKey, audit: nil) { $0.content.title = "Wind" }
            }
            #expect(try await read(store).count == 0)
            #expect(try await found("storm", in: store) == [])
            #expect(try await found("wind shelter", in: store) == ["Wind"])
            try await end([message], in: store)
            #expect(try await store.removeArchived(before: 5_000, limit: 9) == 1)
            #expect(try await entries("shelter", in: store) == 0)
        }
    }

    @Test(
        "Whenever the index gets to a message that is removed, one that takes its place is found by its own words only",
        arguments: Order.allCases)
    func removal(_ order: Order) async throws {
        try await withUnindexedStore { store in
            let old = MessageStoreTests.message("Storm", text: "shelter")
            _ = try await store.insert(old)
            try await end([old], in: store)
            try await index(order, store) {
                #expect(try await store.removeArchived(before: 5_000, limit: 9) == 1)
                _ = try await store.insert(MessageStoreTests.message("Wind", text: "doors"))
            }
            try await add(read(store), to: store)
            #expect(try await found("shelter", in: store) == [])
            #expect(try await found("wind doors", in: store) == ["Wind"])
            #expect(try await entries("shelter", in: store) == 0)
        }
    }

    @Test("A row that is no readable message is indexed by its texts, and removed with them")
    func unreadable() async throws {
        try await withUnindexedStore { store in
            let message = MessageStoreTests.message("Storm", text: "shelter")
            _ = try await store.insert(message)
            try await end([message], in: store)
            try await store.database.write { try $0.execute(sql: "UPDATE message SET components = 'spoilt'") }
            try await add(read(store), to: store)
            #expect(try await entries("shelter", in: store) == 1)
            #expect(try await store.removeArchived(before: 5_000, limit: 9) == 1)
            #expect(try await entries("shelter", in: store) == 0)
        }
    }

    @Test("The index follows the archive without a search, and at the next start after a kill")
    func follows() async throws {
        try await withTemporaryFolder { folder in
            let killed = try open(folder)
            await killed.indexer.close()
            // More than one write adds.
            try await concurrently(600) { number in
                _ = try await killed.insert(MessageStoreTests.message("\(number)", text: "left"))
            }
            #expect(try await entries("left", in: killed) == 0)
            let store = try open(folder)
            try await eventually { try await entries("left", in: store) == 600 }
            _ = try await store.insert(MessageStoreTests.message("later", text: "left"))
            try await eventually { try await entries("left", in: store) == 601 }
            #expect(try await read(store).count == 0)
            try await store.close()
            try await killed.close()
        }
    }

    @Test("Of two stores with one file, each finds at once what either has stored, and removes it")
    func twoStores() async throws {
        try await withTemporaryFolder { folder in
            let stores = [try open(folder), try open(folder)]
            let messages = (0..<40).map { MessageStoreTests.message("\($0)", text: "both") }
            try await concurrently(messages.count) { number in
                _ = try await whenAvailable { try await stores[number % 2].insert(messages[number]) }
                let titles = try await found("both", in: stores[(number + 1) % 2])
                #expect(titles.contains("\(number)"))
            }
            for store in stores {
                #expect(try await found("both", in: store).count == messages.count)
                #expect(try await read(store).count == 0)
            }
            try await end(messages, in: stores[0])
            #expect(try await stores[1].removeArchived(before: 5_000, limit: 1_000) == messages.count)
            #expect(try await entries("both", in: stores[0]) == 0)
            for store in stores { try await store.close() }
        }
    }

    @Test("A search succeeds while words cannot be added; one line says so, and they are added later")
    func outage() async throws {
        try await withTemporaryFolder { folder in
            let log = RecordedLog()
            let store = try open(folder, log)
            try await store.database.write {
                try $0.execute(
                    sql: "CREATE TRIGGER full BEFORE DELETE ON unindexed BEGIN SELECT RAISE(ABORT, 'no room'); END")
            }
            for title in ["1", "2"] { _ = try await store.insert(MessageStoreTests.message(title, text: "waits")) }
            try await eventually { log.louderThanDebug.count == 1 }
            #expect(try await found("waits", in: store) == [])
            #expect(try await store.page(MessageFilter(), before: nil, limit: 9).count == 2)
            try await store.database.write { try $0.execute(sql: "DROP TRIGGER full") }
            try await eventually { log.louderThanDebug.count == 2 }
            #expect(log.louderThanDebug.last?.hasPrefix("over: ") == true)
            #expect(try await entries("waits", in: store) == 2)
            try await store.close()
        }
    }
}

import Logging
import Schemas
import TestSupport
import Testing
import Store

@testable import Archive

/// The pages of the archive.
extension MessageStoreTests {
    @Test(
        "Pages go from the newest to the oldest, without gaps or doubles, also among equal timestamps",
        arguments: StoreKind.allCases)
    func pages(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var stored: [Message] = []
            for number in 0..<25 {
                stored.append(Self.message("\(number)", at: UnixMilliseconds(rawValue: Int64(1_000 + number / 5))))
            }
            // The order of insertion does not matter.
            for message in stored.shuffled() { _ = try await store.insert(message) }
            var seen: [ObjectID] = []
            var cursor: PageCursor?
            while case let page = try await store.page(MessageFilter(), before: cursor, limit: 4), let last = page.last {
                seen += page.map(\.msiKey)
                cursor = PageCursor(timestamp: last.timestamp, msiKey: last.msiKey)
                // A message that arrives between two pages belongs to the first page.
                _ = try await store.insert(Self.message("new", at: 5_000))
            }
            #expect(seen.count == stored.count)
            #expect(seen == Self.inOrder(stored).map(\.msiKey))
        }
    }

    /// From the newest to the oldest, the order of every store.
    private static func inOrder(_ messages: [Message]) -> [Message] {
        messages.sorted { ($0.timestamp, $0.msiKey.description) > ($1.timestamp, $1.msiKey.description) }
    }

    @Test(
        "Unreadable documents are left out of pages, claims and retention, are named in the log once, and block nothing else",
        arguments: StoreKind.allCases)
    func unreadable(_ kind: StoreKind) async throws {
        try await withMessagePlace(kind) { place in
            let log = RecordedLog()
            let store = try await place.open(logger: log.logger)
            let messages = (0..<8).map {
                Self.message("\($0)", text: "secret", at: UnixMilliseconds(rawValue: Int64(1_000 + $0 / 3)))
            }
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
                #expect(try await walk(store, limit: limit) == Self.inOrder(good).map(\.title))
            }
            // The unreadable message is due longest. Once it is leased, it does not block the others.
            var claimed: [String] = []
            for _ in 0..<6 {
                let claim = Claim(.high, limit: 20, maxPerKey: 1)
                claimed += try await store.claim(claim, lease: Lease(owner: "o", until: 9_000), now: 2_000).compactMap(
                    \.message?.title)
            }
            #expect(claimed.sorted() == good.map(\.title))
            #expect(try await store.message(messages[1].msiKey)?.relay.lease?.owner == "o")
            try await finish(good, in: store)
            #expect(try await store.removeArchived(before: 5_000, limit: 10) == 4)
            #expect(try await store.page(MessageFilter(), before: nil, limit: 10).isEmpty)
            let lines = log.lines.filter { $0.level == .error }.map(\.text)
            // One line for each of the four messages, and one for the topic key of one of them.
            #expect(Set(lines).count == lines.count && lines.count <= 5, "\(lines)")
            if kind == .sqlite {
                for (index, _, _) in spoilt {
                    #expect(lines.count { $0.contains(messages[index].msiKey.description) } == 1, "\(lines)")
                }
            }
            #expect(!lines.contains { $0.contains("secret") }, "\(lines)")
            for (index, _, field) in spoilt {
                let error = await #expect(throws: CommandFailure.self) { try await store.message(messages[index].msiKey) }
                #expect(error?.status == .conflict && error?.message.contains("cannot be read (") == true, "\(field)")
                #expect(error?.message.contains("secret") == false)
            }

            // A copy of the archive must not leave them out silently.
            let strict = try await place.open(unreadable: .refused)
            await #expect(throws: CommandFailure.self) { try await strict.page(MessageFilter(), before: nil, limit: 9) }
            try await strict.close()
            try await store.close()
        }
    }

    @Test("A cursor that is not a stored message leads to the messages that sort before it", arguments: StoreKind.allCases)
    func strangeCursors(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            for number in 0..<4 {
                _ = try await store.insert(Self.message("\(number)", at: UnixMilliseconds(rawValue: Int64(1_000 + number / 2))))
            }
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
            // The last message of the previous page was removed.
            let page = try await store.page(MessageFilter(), before: nil, limit: 2)
            try await finish(page, in: store)
            #expect(try await store.removeArchived(before: 2_000, limit: 2) == 2)
            #expect(try await titles(before: 1_001, page[1].msiKey) == ["0", "1"])
        }
    }

    @Test("Every filter selects the right messages, alone and combined, newest first", arguments: StoreKind.allCases)
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

    @Test("Rejected is what needed an approval and was recalled instead, by another account", arguments: StoreKind.allCases)
    func rejected(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let cases: [(title: String, approval: Bool?, trace: [(Intervention.Action, String)], state: RelayState)] = [
                ("rejected", true, [(.recall, "Ben")], .recalled),
                ("edited and rejected", true, [(.approve, "Ben"), (.edit, "Ann"), (.recall, "Ben")], .recalled),
                ("taken back by its sender", true, [(.recall, "Ann")], .recalled),
                ("recalled after the approval", true, [(.edit, "Ann"), (.approve, "Ben"), (.recall, "Ben")], .recalled),
                ("without an approval", nil, [(.recall, "Ben")], .recalled),
                ("waits", true, [], .held),
                ("approved", true, [(.approve, "Ben")], .relayed),
            ]
            for (number, each) in cases.enumerated() {
                var message = Self.message(each.title, at: UnixMilliseconds(rawValue: Int64(9_000 - number)), sender: "Ann")
                message.approval = each.approval
                message.relay.state = each.state
                message.relay.nextAttempt = each.state == .held ? message.expires : nil
                message.relay.trace = each.trace.isEmpty ? nil : each.trace.map { Intervention(action: $0, at: 5, by: $1) }
                _ = try await store.insert(message)
            }
            let both = ["rejected", "edited and rejected"]
            #expect(try await titles(store) { $0.rejected = true } == both)
            #expect(try await titles(store) { ($0.state, $0.rejected) = (.recalled, true) } == both)
            #expect(try await titles(store) { ($0.rejected, $0.topics) = (true, [Self.topic]) } == both)
            #expect(try await titles(store) { ($0.rejected, $0.text) = (true, SearchQuery("edited")) } == ["edited and rejected"])
            #expect(try await titles(store) { ($0.rejected, $0.state) = (true, .failed) } == [])
        }
    }

    @Test("The messages of a trace are found by its id, also among those of a few topics", arguments: StoreKind.allCases)
    func trace(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let mine = try #require(TraceID("4bf92f3577b34da6a3ce929d0e0e4736"))
            for (number, id) in ["4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4737", nil].enumerated() {
                var message = Self.message("\(number)", at: UnixMilliseconds(rawValue: Int64(1_000 + number)))
                message.traceparent = id.map { "00-\($0)-00f067aa0ba902b7-01" }
                _ = try await store.insert(message)
                // What relaying changes leaves the trace as it is.
                try await finish([message], in: store)
                #expect(try await store.message(message.msiKey)?.traceparent == message.traceparent)
            }
            #expect(try await titles(store) { $0.traceID = mine } == ["0"])
            #expect(try await titles(store) { ($0.traceID, $0.topics) = (mine, [Self.topic]) } == ["0"])
            #expect(try await titles(store) { ($0.traceID, $0.topics) = (mine, []) } == [])
            #expect(try await titles(store) { $0.traceID = TraceID("00000000000000000000000000000001") } == [])
        }
    }

    @Test(
        "A search finds all of its words in title, description and text in any case, and beginnings of words with a star",
        arguments: StoreKind.allCases)
    func search(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let texts = [
                ("Exam moved", "Room B12, not the old one."), ("Library closed", "Übung fällt aus; 休講です"),
                ("EXAMS", "The exam's room: b12"), ("Storm", "It's 100% closed (O'Neil)"),
            ]
            for (number, text) in texts.enumerated() {
                _ = try await store.insert(
                    Self.message(text.0, text: text.1, at: UnixMilliseconds(rawValue: Int64(1_000 + number))))
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
            // By Unicode's rules, in both stores.
            #expect(try await found("u\u{308}BUNG FA\u{308}LLT") == ["Library closed"])
            #expect(try await found("休講です") == ["Library closed"])
            #expect(try await found("Ｂ１２") == ["EXAMS", "Exam moved"])
            #expect(try await found("休* Ｂ１２") == [])
            #expect(try await found("\"closed\" AND -exam") == [])
            var filter = MessageFilter()
            filter.text = SearchQuery("closed")
            let first = try await store.page(filter, before: nil, limit: 1)
            #expect(first.map(\.title) == ["Storm"])
            let cursor = first.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) }
            #expect(try await store.page(filter, before: cursor, limit: 1).map(\.title) == ["Library closed"])
        }
    }

    @Test("A compound is found as its words, as one word, and in its own form", arguments: StoreKind.allCases)
    func compounds(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let titles = ["Wi-Fi down", "WiFi back", "Wi fi tests", "E-Mail-Adresse", "COVID-19 from 22:30"]
            for (number, title) in titles.enumerated() {
                _ = try await store.insert(Self.message(title, at: UnixMilliseconds(rawValue: Int64(1_000 + number))))
            }
            func found(_ query: String) async throws -> [String] {
                try await self.titles(store) { $0.text = SearchQuery(query) }
            }
            #expect(try await found("wifi") == ["WiFi back", "Wi-Fi down"])
            #expect(try await found("wi fi") == ["Wi fi tests", "Wi-Fi down"])
            #expect(try await found("wi-fi") == ["Wi fi tests", "WiFi back", "Wi-Fi down"])
            #expect(try await found("WI/FI back") == ["WiFi back"])
            for query in ["email", "e-mail", "mailadresse", "e-mail-ad*", "E-Mail-Adresse"] {
                #expect(try await found(query) == ["E-Mail-Adresse"], "\(query)")
            }
            for query in ["covid19", "covid-19 22:30", "2230 cov*"] {
                #expect(try await found(query) == ["COVID-19 from 22:30"], "\(query)")
            }
            // With topics, by another way.
            #expect(try await self.titles(store) { ($0.text, $0.topics) = (SearchQuery("wi-fi"), [Self.topic]) }.count == 3)
        }
    }
}

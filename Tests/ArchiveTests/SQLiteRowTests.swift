import Base
import GRDB
import Schemas
import Store
import TestSupport
import Testing

@testable import Archive

/// The rows of the archive in SQLite, which are written and read without GRDB's coding.
@Suite("Rows of SQLite")
struct SQLiteRowTests {
    /// With a value in every field that is stored.
    private static func message() -> Message {
        var message = MessageStoreTests.message(
            "T \"q\"", text: "\n😀/\\", at: 1_000, key: "k", distribution: .alert, sendAt: 2_000, follows: ObjectID(),
            lease: Lease(owner: "o", until: 5_000)
        ) { content in
            (content.ttl, content.delay, content.drill, content.correction) = (60, 5, true, false)
            content.template = ObjectID()
            content.values = ["room": "1/2", "a": "ä\""]
            content.options = DeliveryOptions(
                image: "https://x", link: "https://y", collapseKey: "c", analyticsLabel: "l", android: .init(channelID: "a"),
                apns: .init(category: "b"))
        }
        message.names = CubeNames(channel: "C \"1\"", area: "A\n", subject: "Ä/😀")
        message.approval = true
        message.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        message.relay = RelayRecord(
            state: .retrying, attempts: 2, nextAttempt: 5_000, webpushAttempt: 9_000, lease: message.relay.lease, ended: 6,
            accepted: 7,
            components: [
                ComponentRecord(component: .notification, state: .accepted, name: "n/\"1\"", acceptedAt: 7),
                ComponentRecord(component: .data, error: DeliveryError(class: .retryable, code: "QUOTA", message: "wait")),
                ComponentRecord(component: .webpush),
            ],
            trace: [Intervention(action: .approve, at: 5, by: "ann", reason: "r")])
        return message
    }

    private static func push() -> Push {
        var push = PushStoreTests.push("k", notBefore: 2_000, lease: Lease(owner: "o", until: 5_000))
        (push.project, push.traceparent, push.relay.ended) = ("p", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", 8)
        push.relay.trace = [Intervention(action: .retry, at: 5, by: "ann")]
        (push.transport, push.relay.transport, push.relay.webpushAttempt) = (.webpush, .webpush, 9_000)
        return push
    }

    @Test("Every field has its column, and is read back from it")
    func columns() throws {
        let (message, push) = (Self.message(), Self.push())
        let (messageRow, pushRow) = (try MessageRow(message, at: 5), try PushRow(push))
        #expect(MessageRow.Column.allCases.filter { messageRow.values[$0].isNull } == [])
        #expect(PushRow.Column.allCases.filter { pushRow.values[$0].isNull } == [])
        #expect(try messageRow.document == message && messageRow.position == 5)
        #expect(try pushRow.document == push)
    }

    @Test("The tables have the columns of the rows, and a row is read as it was written")
    func tables() async throws {
        try await withMessagePlace(.sqlite) { place in
            let store = try await place.open()
            let (message, push) = (Self.message(), Self.push())
            _ = try await store.insert(message)
            _ = try await store.insert(push)
            #expect(try await store.message(message.msiKey) == message)
            #expect(try await store.push(push.id) == push)
            try await store.close()
            let file = try DatabaseQueue(path: place.folder + "/message-log.sqlite")
            try await file.read { database in
                for (table, columns) in [
                    ("message", MessageRow.Column.allCases.map(\.stringValue)),
                    ("push", PushRow.Column.allCases.map(\.stringValue)),
                ] {
                    #expect(try Set(database.columns(in: table).map(\.name)) == Set(columns))
                }
                var row = try MessageRow(message, at: ArchivePosition.first(of: message.timestamp))
                #expect(try MessageRow.find(message.msiKey, in: database)?.values == row.values)
                row = try MessageRow(MessageStoreTests.message(), at: 0)
                #expect(row.values[.options].isNull && row.values[.accepted].isNull && row.values[.idempotencyKey].isNull)
            }
            try file.close()
        }
    }

    @Test("Names and components are stored as JSON without spaces, with sorted fields, as other documents")
    func json() throws {
        let message = Self.message()
        for names in [message.names, CubeNames(channel: "", area: "", subject: "\u{1}")] {
            #expect(try MessageRow.names(names) == DatabaseValue(json: names))
        }
        let accepted = Array(message.relay.components.prefix(1))
        let states = DeliveryState.allCases.map { ComponentRecord(component: .data, state: $0) }
        for components in [message.relay.components, accepted, states, []] {
            #expect(try MessageRow.components(components) == DatabaseValue(json: components))
        }
    }

    @Test("Rows that GRDB's coding has written are read: its JSON escapes slashes")
    func earlierForm() throws {
        let message = Self.message()
        var row = try MessageRow(message, at: 5)
        for column in [MessageRow.Column.names, .components, .options, .templateValues, .trace] {
            let json: String = try row.values.value(column)
            row.values[column] = json.replacing("/", with: "\\/").databaseValue
        }
        #expect(try row.document == message)
    }

    @Test("More messages of a millisecond than it has positions come after each other, and none is lost")
    func fullMillisecond() async throws {
        try await withMessagePlace(.sqlite) { place in
            let store = try await place.open()
            let first = MessageStoreTests.message("first", at: 1_000)
            _ = try await store.insert(first)
            let file = try DatabaseQueue(path: place.folder + "/message-log.sqlite")
            try await file.write { database in
                // As if all other positions were taken before.
                try database.execute(
                    sql: "UPDATE message SET position = ?", arguments: [ArchivePosition.first(of: 1_001) - 1])
            }
            try file.close()
            let next = MessageStoreTests.message("of the next millisecond", at: 1_001)
            _ = try await store.insert(next)
            for number in 0..<3 { _ = try await store.insert(MessageStoreTests.message("\(number)", at: 1_000)) }
            let again = try await store.insert(first)
            #expect(again == first)
            let page = try await store.page(MessageFilter(), before: nil, limit: 10)
            #expect(Set(page.map(\.title)) == ["first", "of the next millisecond", "0", "1", "2"])
            try await store.close()
        }
    }
}

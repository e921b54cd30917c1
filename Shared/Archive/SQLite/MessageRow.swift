import Base
import GRDB
import Schemas
import Store

/// A row of `message`, as it is stored. It is decoded only for the message, so that the single writer does only the database's work.
struct MessageRow: OutboxRow {
    /// The columns. `values` is a word of SQL.
    enum Column: Int, RowColumn {
        case position, id, msiKey, title, desc, message, topicKey, channel, area, subject, distribution, sender, timestamp
        case ttl, sendAt, options, delay, drill, follows, correction, template, templateValues, approval, names, expires
        case idempotencyKey, traceparent, state, attempts, nextAttempt, leaseOwner, leaseUntil, components, trace, ended, accepted
        case webpushAttempt
    }

    static let table = OutboxTable.messages
    static let tableName = "message"
    static let keyColumn = Column.msiKey
    static let delivery = DeliveryColumns<Column>(
        state: .state, attempts: .attempts, nextAttempt: .nextAttempt, webpushAttempt: .webpushAttempt, leaseOwner: .leaseOwner,
        leaseUntil: .leaseUntil, ended: .ended, trace: .trace)
    static let partColumns: [Column] = [.components, .accepted]

    var values: ColumnValues<Column>

    static func partValues(_ record: RelayRecord) throws -> [DatabaseValue] {
        [try components(record.components), record.accepted.databaseValue]
    }

    var position: Int64 {
        get throws(UnreadableRow) { try values.value(.position) }
    }

    var document: Message {
        get throws(UnreadableRow) {
            let content = try content
            return Message(
                id: try values.value(.id), msiKey: try values.value(.msiKey), content: content, sender: try values.value(.sender),
                timestamp: try values.value(.timestamp), names: try values.json(.names), expires: try values.value(.expires),
                idempotencyKey: try values.optional(.idempotencyKey), approval: try values.optional(.approval),
                traceparent: try values.optional(.traceparent), relay: try relay)
        }
    }

    private var content: MessageContent {
        get throws(UnreadableRow) {
            let (ttl, delay): (Int64?, Int64?) = (try values.optional(.ttl), try values.optional(.delay))
            return MessageContent(
                title: try values.value(.title), desc: try values.value(.desc), message: try values.value(.message),
                topicKey: try values.value(.topicKey), distribution: try values.value(.distribution),
                ttl: ttl.map(Seconds.init(rawValue:)), sendAt: try values.optional(.sendAt),
                options: try values.optionalJSON(.options), delay: delay.map(Seconds.init(rawValue:)),
                drill: try values.optional(.drill), follows: try values.optional(.follows),
                correction: try values.optional(.correction), template: try values.optional(.template),
                values: try values.optionalJSON(.templateValues))
        }
    }

    private var relay: RelayRecord {
        get throws(UnreadableRow) {
            RelayRecord(
                state: try values.value(.state), attempts: try values.value(.attempts),
                nextAttempt: try values.optional(.nextAttempt), webpushAttempt: try values.optional(.webpushAttempt),
                lease: try lease, ended: try values.optional(.ended),
                accepted: try values.optional(.accepted), components: try values.json(.components),
                trace: try values.optionalJSON(.trace))
        }
    }
}

extension MessageRow {
    init(_ message: Message, at position: Int64) throws {
        values = try ColumnValues { try Self.value(of: $0, in: message, at: position) }
        try set(message.relay)
    }

    /// The value of a column, except those of the record.
    private static func value(of column: Column, in message: Message, at position: Int64) throws -> DatabaseValue {
        switch column {
        case .position: position.databaseValue
        case .id: message.id.databaseValue
        case .msiKey: message.msiKey.databaseValue
        case .title: message.content.title.databaseValue
        case .desc: message.content.desc.databaseValue
        case .message: message.content.message.databaseValue
        case .topicKey: message.content.topicKey.databaseValue
        case .channel: message.content.topicKey.channel.databaseValue
        case .area: message.content.topicKey.area.databaseValue
        case .subject: message.content.topicKey.subject.databaseValue
        case .distribution: message.content.distribution.rawValue.databaseValue
        case .sender: message.sender.databaseValue
        case .timestamp: message.timestamp.databaseValue
        case .ttl: message.content.ttl?.rawValue.databaseValue ?? .null
        case .sendAt: message.content.sendAt.databaseValue
        case .options: try DatabaseValue(optionalJSON: message.content.options)
        case .delay: message.content.delay?.rawValue.databaseValue ?? .null
        case .drill: message.content.drill.databaseValue
        case .follows: message.content.follows.databaseValue
        case .correction: message.content.correction.databaseValue
        case .template: message.content.template.databaseValue
        case .templateValues: try DatabaseValue(optionalJSON: message.content.values)
        case .approval: message.approval.databaseValue
        case .names: names(message.names)
        case .expires: message.expires.databaseValue
        case .idempotencyKey: message.idempotencyKey.databaseValue
        case .traceparent: message.traceparent.databaseValue
        // ``set(_:)`` follows.
        case .state, .attempts, .nextAttempt, .webpushAttempt, .leaseOwner, .leaseUntil, .components, .trace, .ended, .accepted:
            .null
        }
    }

    private static let replaceSQL = """
        UPDATE \(tableName) SET \(Column.assignments(Array(Column.allCases.dropFirst()))) WHERE position = ?
        """

    /// Replaces the row at the same position.
    func replace(in database: Database) throws {
        let statement = try database.cachedStatement(sql: Self.replaceSQL)
        // The position is the first column.
        try statement.execute(arguments: StatementArguments(values.all.dropFirst() + [values[.position]]))
    }

    // Each message has these two columns of JSON, and each outcome the second one. They are written as ``JSONCoder`` writes them, but
    // without its overhead.

    static func names(_ names: CubeNames) -> DatabaseValue {
        var json = JSONBytes(capacity: 256)
        json.append(#"{"area":"#)
        json.append(text: names.area)
        json.append(#","channel":"#)
        json.append(text: names.channel)
        json.append(#","subject":"#)
        json.append(text: names.subject)
        json.append("}")
        return DatabaseValue(&json)
    }

    static func components(_ components: [ComponentRecord]) throws -> DatabaseValue {
        // Errors are rare.
        guard !components.contains(where: { $0.error != nil }) else { return try DatabaseValue(json: components) }
        var json = JSONBytes(capacity: 512)
        json.append("[")
        for (index, component) in components.enumerated() {
            json.append(index == 0 ? "{" : ",{")
            if let moment = component.acceptedAt {
                json.append(#""accepted_at":"#)
                json.append(moment.rawValue)
                json.append(",")
            }
            json.append(#""component":"#)
            json.append(text: component.component.rawValue)
            if let name = component.name {
                json.append(#","name":"#)
                json.append(text: name)
            }
            json.append(#","state":"#)
            json.append(text: component.state.rawValue)
            json.append("}")
        }
        json.append("]")
        return DatabaseValue(&json)
    }
}

/// An insertion of a message. Its values are prepared in advance, so that the single writer only does the database's work.
struct MessageInsertion: Sendable {
    private let message: Message
    private let audit: AuditInsertion?
    /// The row's values, without the position.
    private let values: [DatabaseValue]
    /// The arguments for the message's own millisecond.
    private let arguments: StatementArguments

    /// The arguments 1 and 2 are the first position of the message's millisecond, and the one after its last. The message comes after
    /// the others of the millisecond; if it is full, it comes at the beginning of the next one, if that is empty.
    private static let insertSQL = """
        INSERT INTO \(MessageRow.tableName) (\(MessageRow.Column.list)) VALUES (
            ifnull(
                (SELECT position + 1 FROM \(MessageRow.tableName) WHERE position >= ?1 AND position < ?2 ORDER BY position DESC LIMIT 1),
                ?1)
            \(String(repeating: ", ?", count: MessageRow.Column.allCases.count - 1)))
        ON CONFLICT DO NOTHING
        """

    init(_ message: Message, audit: MessageAudit?) throws {
        self.message = message
        self.audit = try audit?.insertion(about: message)
        // The position is the first column.
        values = Array(try MessageRow(message, at: 0).values.all.dropFirst())
        arguments = Self.arguments(
            ArchivePosition.first(of: message.timestamp)..<ArchivePosition.first(of: message.timestamp + 1), values)
    }

    private static func arguments(_ positions: Range<Int64>, _ values: [DatabaseValue]) -> StatementArguments {
        StatementArguments([positions.lowerBound.databaseValue, positions.upperBound.databaseValue] + values)
    }

    /// - Returns: The existing message with the same keys, if there is one.
    func run(in database: Database) throws -> Message? {
        if try !insert(arguments, in: database) {
            // A key is known, or the position is taken.
            if let known = try known(in: database) { return known }
            let position = try ArchivePosition.free(for: message.timestamp, in: database)
            guard try insert(Self.arguments(position..<position, values), in: database) else {
                throw CommandFailure(.internal, "the message \(message.msiKey) cannot be stored at the free position \(position)")
            }
        }
        try MessageText.addLater(database.lastInsertedRowID, in: database)
        try audit?.run(in: database)
        return nil
    }

    /// - Returns: Whether it was inserted. Otherwise nothing has changed.
    private func insert(_ arguments: StatementArguments, in database: Database) throws -> Bool {
        try database.cachedStatement(sql: Self.insertSQL).execute(arguments: arguments)
        return database.changesCount == 1
    }

    private func known(in database: Database) throws -> Message? {
        if let row = try MessageRow.find(message.msiKey, in: database) { return try row.readDocument() }
        guard let key = message.idempotencyKey else { return nil }
        return try MessageRow.find(key, of: message.sender, in: database)?.readDocument()
    }
}

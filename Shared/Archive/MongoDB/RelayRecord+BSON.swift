package import Store
package import Schemas

/// The common fields of the records of messages and pushes, read from the document `relay`.
struct DeliveryFields {
    let state: RelayState
    let attempts: Int
    let nextAttempt: UnixMilliseconds?
    let webpushAttempt: UnixMilliseconds?
    let lease: Lease?
    let ended: UnixMilliseconds?
    let trace: [Intervention]?

    init(_ fields: BSONFields) throws {
        state = try fields.value("state")
        attempts = Int(try fields.value("attempts", as: Int64.self))
        nextAttempt = try fields.optional("next_attempt")
        webpushAttempt = try fields.optional("webpush_attempt")
        lease = try fields.optionalFields("lease").map { try Lease($0) }
        ended = try fields.optional("ended")
        trace = try fields["trace"] == nil ? nil : fields.list("trace").map { try Intervention($0) }
    }
}

extension RelayRecord {
    /// - Parameter fields: `nil` for a message of another program, which counts as relayed.
    init(_ fields: BSONFields?) throws {
        guard let fields else {
            self.init(state: .relayed, attempts: 0, nextAttempt: nil, components: [])
            return
        }
        let common = try DeliveryFields(fields)
        self.init(
            state: common.state, attempts: common.attempts, nextAttempt: common.nextAttempt,
            webpushAttempt: common.webpushAttempt, lease: common.lease, ended: common.ended,
            accepted: try fields.optional("accepted"),
            components: try fields.list("components").map { try ComponentRecord($0) }, trace: common.trace)
    }
}

/// A record whose parts can be written as documents.
protocol BSONRecord: DeliveryRecord {
    /// The fields that only this kind of record has.
    var ownFields: [RecordField] { get }
    /// The name of the field with its parts.
    static var partsField: String { get }
    static func value(of parts: [Part]) -> BSONValue
}

extension RelayRecord: BSONRecord {
    var ownFields: [RecordField] { [("accepted", accepted?.bson)] }

    static var partsField: String { "components" }

    static func value(of parts: [ComponentRecord]) -> BSONValue {
        .array(parts.map { .document($0.document([("component", $0.component.bson)])) })
    }
}

extension PushRecord: BSONRecord {
    var ownFields: [RecordField] { [] }

    static var partsField: String { "recipients" }

    static func value(of parts: [RecipientRecord]) -> BSONValue {
        guard let document = try? BSONCoder.encode(StoredRecipients(parts)) else {
            preconditionFailure("lists of texts and numbers can be encoded")
        }
        return .document(document)
    }
}

/// A field of the document `relay`. It is absent if it has no value.
typealias RecordField = (key: String, value: BSONValue?)

/// A record as the document `relay`.
extension BSONRecord {
    func document(revision: Int64) -> BSONDocument {
        BSONDocument(fields.compactMap { key, value in value.map { (key, $0) } } + [("revision", .int64(revision))])
    }

    /// The update from a stored record to this one; `nil` if they are equal.
    func changes(from stored: Self) -> BSONDocument? {
        var changed = zip(fields, stored.fields).filter { $0.value != $1.value }.map(\.0)
        // The stored lease also names its claim, which may still have to read the item.
        if let lease, lease.owner == stored.lease?.owner, let index = changed.firstIndex(where: { $0.key == "lease" }) {
            changed[index] = ("lease.until", lease.until.bson)
        }
        return changed.isEmpty ? nil : .change(to: changed)
    }

    /// What a turn changes: everything but the trace.
    var turnFields: [RecordField] {
        [
            ("state", state.bson), ("attempts", .int64(Int64(attempts))), ("next_attempt", nextAttempt?.bson),
            ("webpush_attempt", webpushAttempt?.bson), ("lease", lease.map { .document($0.document) }), ("ended", ended?.bson),
            (Self.partsField, Self.value(of: parts)),
        ] + ownFields
    }

    /// The fields in a fixed order.
    private var fields: [RecordField] {
        turnFields + [("trace", trace.map { .array($0.map { .document($0.document) }) })]
    }
}

extension BSONDocument {
    /// The update of a record that gives these fields their values, or removes them.
    static func change(to fields: [RecordField]) -> BSONDocument {
        var (set, unset): ([(String, BSONValue)], [(String, BSONValue)]) = ([], [])
        for (key, value) in fields {
            if let value { set.append(("relay." + key, value)) } else { unset.append(("relay." + key, "")) }
        }
        let parts = [("$set", set), ("$unset", unset), ("$inc", [("relay.revision", .int64(1))])]
        return BSONDocument(parts.filter { !$0.1.isEmpty }.map { ($0.0, .document(BSONDocument($0.1))) })
    }
}

extension Lease {
    fileprivate init(_ fields: BSONFields) throws {
        self.init(owner: try fields.value("owner"), until: try fields.value("until"))
    }

    var document: BSONDocument { ["owner": owner.bson, "until": until.bson] }
}

extension ComponentRecord {
    fileprivate init(_ fields: BSONFields) throws {
        self.init(
            component: try fields.value("component"), state: try fields.value("state"), name: try fields.optional("name"),
            acceptedAt: try fields.optional("accepted_at"),
            error: try fields.optionalFields("error").map { try DeliveryError($0) })
    }
}

extension DeliveryPart {
    /// - Parameter subject: The fields that identify the part.
    fileprivate func document(_ subject: [(String, BSONValue)]) -> BSONDocument {
        // Without a list of optional values: a push may have a thousand parts.
        var fields = subject
        fields.append(("state", state.bson))
        if let name { fields.append(("name", name.bson)) }
        if let acceptedAt { fields.append(("accepted_at", acceptedAt.bson)) }
        if let error { fields.append(("error", .document(error.document))) }
        return BSONDocument(fields)
    }
}

extension DeliveryError {
    init(_ fields: BSONFields) throws {
        self.init(
            class: try fields.value("class"), code: try fields.value("code"), message: try fields.value("message"),
            retryAfter: try fields.optional("retry_after"))
    }

    fileprivate var document: BSONDocument {
        let required: BSONDocument = ["class": `class`.bson, "code": code.bson, "message": message.bson]
        return retryAfter.map { required.with("retry_after", $0.bson) } ?? required
    }
}

extension Intervention {
    fileprivate init(_ fields: BSONFields) throws {
        self.init(
            action: try fields.value("action"), at: try fields.value("at"), by: try fields.value("by"),
            reason: try fields.optional("reason"))
    }

    fileprivate var document: BSONDocument {
        let required: BSONDocument = ["action": action.bson, "at": at.bson, "by": by.bson]
        return reason.map { required.with("reason", $0.bson) } ?? required
    }
}

extension RelayState: BSONConvertible {}
extension RelayComponent: BSONConvertible {}
extension DeliveryState: BSONConvertible {}
extension ErrorClass: BSONConvertible {}

/// Accepts an action that only a newer version knows.
extension Intervention.Action: BSONConvertible {
    package static var expectedBSON: String { String.expectedBSON }

    package init?(bson: BSONValue) {
        guard let text = String(bson: bson) else { return nil }
        self.init(rawValue: text)
    }

    package var bson: BSONValue { rawValue.bson }
}

package import MongoDatabase
package import Schemas

/// The common fields of the records of messages and pushes, read from the document `relay`.
struct DeliveryFields {
    let state: RelayState
    let attempts: Int
    let nextAttempt: UnixMilliseconds?
    let lease: Lease?
    let ended: UnixMilliseconds?
    let trace: [Intervention]?

    init(_ fields: BSONFields) throws {
        state = try fields.value("state")
        attempts = Int(try fields.value("attempts", as: Int64.self))
        nextAttempt = try fields.optional("next_attempt")
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
            state: common.state, attempts: common.attempts, nextAttempt: common.nextAttempt, lease: common.lease,
            ended: common.ended, accepted: try fields.optional("accepted"),
            components: try fields.list("components").map { try ComponentRecord($0) }, trace: common.trace)
    }
}

/// A record whose parts can be written as documents.
protocol BSONRecord: DeliveryRecord {
    /// The fields that only this kind of record has.
    var ownFields: [(key: String, value: BSONValue?)] { get }
    /// The name of the field with its parts.
    static var partsField: String { get }
    static func document(of part: Part) -> BSONDocument
}

extension RelayRecord: BSONRecord {
    var ownFields: [(key: String, value: BSONValue?)] { [("accepted", accepted?.bson)] }

    static var partsField: String { "components" }

    static func document(of part: ComponentRecord) -> BSONDocument {
        part.document([("component", part.component.bson)])
    }
}

extension PushRecord: BSONRecord {
    var ownFields: [(key: String, value: BSONValue?)] { [] }

    static var partsField: String { "recipients" }

    static func document(of part: RecipientRecord) -> BSONDocument {
        part.document([(part.recipient.field.rawValue, part.recipient.text.bson)])
    }
}

/// A record as the document `relay`.
extension BSONRecord {
    func document(revision: Int64) -> BSONDocument {
        BSONDocument(fields.compactMap { key, value in value.map { (key, $0) } } + [("revision", .int64(revision))])
    }

    /// The update from a former record to this one; `nil` if they are equal.
    func changes(from former: Self) -> BSONDocument? {
        var (set, unset): ([(String, BSONValue)], [(String, BSONValue)]) = ([], [])
        for (new, old) in zip(fields, former.fields) where new.value != old.value {
            if let value = new.value { set.append(("relay." + new.key, value)) } else { unset.append(("relay." + new.key, "")) }
        }
        guard !set.isEmpty || !unset.isEmpty else { return nil }
        let parts = [("$set", set), ("$unset", unset), ("$inc", [("relay.revision", .int64(1))])]
        return BSONDocument(parts.filter { !$0.1.isEmpty }.map { ($0.0, .document(BSONDocument($0.1))) })
    }

    /// The fields in a fixed order.
    private var fields: [(key: String, value: BSONValue?)] {
        [
            ("state", state.bson), ("attempts", .int64(Int64(attempts))), ("next_attempt", nextAttempt?.bson),
            ("lease", lease.map { .document($0.document) }), ("ended", ended?.bson),
            (Self.partsField, .array(parts.map { .document(Self.document(of: $0)) })),
            ("trace", trace.map { .array($0.map { .document($0.document) }) }),
        ] + ownFields
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
        let fields = [
            ("state", state.bson), ("name", name?.bson), ("accepted_at", acceptedAt?.bson), ("error", error?.document.bson),
        ]
        return BSONDocument(subject + fields.compactMap { key, value in value.map { (key, $0) } })
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
        self.init(action: try fields.value("action"), at: try fields.value("at"), by: try fields.value("by"))
    }

    fileprivate var document: BSONDocument { ["action": action.bson, "at": at.bson, "by": by.bson] }
}

extension RelayState: BSONConvertible {}
extension Component: BSONConvertible {}
extension DeliveryState: BSONConvertible {}
extension ErrorClass: BSONConvertible {}

/// Also an action that only a newer version knows.
extension Intervention.Action: BSONConvertible {
    package static var expectedBSON: String { String.expectedBSON }

    package init?(bson: BSONValue) {
        guard let text = String(bson: bson) else { return nil }
        self.init(rawValue: text)
    }

    package var bson: BSONValue { rawValue.bson }
}

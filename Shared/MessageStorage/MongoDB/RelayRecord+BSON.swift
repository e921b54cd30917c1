import MongoDatabase
import Schemas

/// The relay record as the document `relay`.
extension RelayRecord {
    /// - Parameter fields: `nil` for a message of another program, which counts as relayed.
    init(_ fields: BSONFields?) throws {
        guard let fields else {
            self.init(state: .relayed, attempts: 0, nextAttempt: nil, components: [])
            return
        }
        var trace: [Intervention]?
        if try fields["trace"] != nil { trace = try fields.list("trace").map { try Intervention($0) } }
        self.init(
            state: try fields.value("state"), attempts: Int(try fields.value("attempts", as: Int64.self)),
            nextAttempt: try fields.optional("next_attempt"), lease: try fields.optionalFields("lease").map { try Lease($0) },
            ended: try fields.optional("ended"), components: try fields.list("components").map { try ComponentRecord($0) },
            trace: trace)
    }

    func document(revision: Int64) -> BSONDocument {
        BSONDocument(fields.compactMap { key, value in value.map { (key, $0) } } + [("revision", .int64(revision))])
    }

    /// The update from a former record to this one; `nil` if they are equal.
    func changes(from former: RelayRecord) -> BSONDocument? {
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
            ("components", .array(components.map { .document($0.document) })),
            ("trace", trace.map { .array($0.map { .document($0.document) }) }),
        ]
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
            error: try fields.optionalFields("error").map { try ComponentError($0) })
    }

    fileprivate var document: BSONDocument {
        let fields = [
            ("component", component.bson), ("state", state.bson), ("name", name?.bson), ("error", error?.document.bson),
        ]
        return BSONDocument(fields.compactMap { key, value in value.map { (key, $0) } })
    }
}

extension ComponentError {
    fileprivate init(_ fields: BSONFields) throws {
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
extension ComponentState: BSONConvertible {}
extension ErrorClass: BSONConvertible {}
extension Intervention.Action: BSONConvertible {}

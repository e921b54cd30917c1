import Base
import Schemas
import Store

/// The changes of the keys of classes. They are the professor's. The audit log has them, without the codes.
extension StudyChange {
    /// Makes a key. Repeated with the same key of the request, it finds the same one.
    ///
    /// - Throws: ``CommandFailure``: `not_found`, `forbidden`; `invalid` if it ends in the past; `conflict` at
    ///   ``StudyLimits/maxKeys``, or if the request's key was used for another one.
    mutating func add(_ command: AddClassKey, by account: AccountName) throws -> ClassKeyDocument {
        _ = try transaction.require(.manageKeys, of: account, in: command.classID)
        let draft = command.draft
        let request = RequestHash.text(command.requestKey, of: account, for: "class_key")
        if let request, let known = try transaction.classKey(madeBy: request) {
            guard known.classID == command.classID, known.role == draft.role, known.uses == draft.uses,
                known.expires == draft.expires
            else { throw CommandFailure.reusedKey(for: "key of a class") }
            return known
        }
        if let expires = draft.expires, expires <= now {
            throw CommandFailure(.invalid, "expires: expected a time in the future", field: "expires")
        }
        guard try transaction.classKeys(of: command.classID).count < StudyLimits.maxKeys else {
            throw CommandFailure(
                .conflict, "the class has \(StudyLimits.maxKeys) keys, and no more are possible; revoke one first")
        }
        let new = ClassKeyDocument(
            id: ObjectID(), classID: command.classID, role: draft.role, code: ClassCode.random(), created: now,
            expires: draft.expires, uses: draft.uses, used: 0, request: request)
        try transaction.insert(new, into: StudyStore.keys)
        record(AddClassKey.name, .classKey(new.id), after: new.audited)
        return new
    }

    /// Gives a key another code, whose uses are counted from 0.
    mutating func replace(_ command: ReplaceClassKey, by account: AccountName) throws -> ClassKeyDocument {
        let before = try key(command.id, of: command.classID, for: account)
        let now = now
        let after = try transaction.update(before.id, in: StudyStore.keys) { key in
            key.code = ClassCode.random()
            key.created = now
            key.used = 0
        }.document
        record(ReplaceClassKey.name, .classKey(before.id), before: before.audited, after: after.audited)
        return after
    }

    /// Revokes a key.
    mutating func remove(_ command: RemoveClassKey, by account: AccountName) throws {
        let key = try key(command.id, of: command.classID, for: account)
        try transaction.delete(key.id, from: StudyStore.keys)
        record(RemoveClassKey.name, .classKey(key.id), before: key.audited)
    }

    /// - Throws: ``CommandFailure``: `not_found` and `forbidden`.
    private func key(_ id: ObjectID, of classID: ObjectID, for account: AccountName) throws -> ClassKeyDocument {
        _ = try transaction.require(.manageKeys, of: account, in: classID)
        guard let key = try transaction.get(id, from: StudyStore.keys)?.document, key.classID == classID else {
            throw CommandFailure(.notFound, "no key \(id) of the class \(classID)")
        }
        return key
    }
}

extension Transaction {
    /// The keys of a class that have not expired, the newest first.
    func classKeys(of classID: ObjectID) throws -> [ClassKeyDocument] {
        let query = Query(where: StudyStore.keyClass == classID)
        // Two that are added at the same moment may both find room.
        return try page(of: StudyStore.keys, query, limit: 2 * StudyLimits.maxKeys).documents.map(\.document)
            .sorted { ($1.created, $1.id) < ($0.created, $0.id) }
    }

    /// The key that a request has made which is now repeated; `nil` for none.
    fileprivate func classKey(madeBy request: String) throws -> ClassKeyDocument? {
        try page(of: StudyStore.keys, Query(where: StudyStore.keyRequest == request), limit: 1).documents.first?.document
    }
}

extension ClassKeyDocument {
    /// What the audit log has of it: never the code.
    fileprivate var audited: JSONValue {
        var fields: JSONValue = [
            "class": .string("\(classID)"), "role": .string(role.rawValue), "created": .integer(created.rawValue),
        ]
        fields["uses"] = uses.map { JSONValue.integer($0) }
        fields["expires"] = expires.map { JSONValue.integer($0.rawValue) }
        return fields
    }
}

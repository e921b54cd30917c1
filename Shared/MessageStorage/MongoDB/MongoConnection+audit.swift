import MongoDatabase
import Schemas

/// An entry that the audit log has not acknowledged, as an element of a message's `audit`, or as a document of `message_audit` if
/// the message was removed or the entry was refused. The field `audit` is absent if there is nothing.
extension PendingAuditEntry {
    /// - Throws: ``BSONError`` if the element has no id.
    fileprivate init(_ element: BSONFields, of msiKey: ObjectID) throws(BSONError) {
        self.init(id: try element.value("id"), msiKey: msiKey, json: element.json)
    }

    /// - Throws: ``BSONError`` if the document is no entry.
    fileprivate init(removed document: BSONDocument) throws(BSONError) {
        let fields = try BSONFields(document)
        self.init(
            id: try fields.value("_id"), msiKey: try fields.value("msi_key"), json: fields.json,
            isRefused: (try? fields.optional("refused")) ?? false)
    }

    /// The element of its message.
    var element: BSONDocument { ["id": id.bson, "entry": .string(json)] }
}

extension BSONFields {
    /// The entry's JSON; something else if another program has changed it.
    fileprivate var json: String {
        (try? value("entry")) ?? (try? BSONDocument(all.map { ($0.key, $0.value) }).extendedJSON) ?? ""
    }
}

extension BSONDocument {
    /// An update that also adds an entry.
    func adding(_ entry: PendingAuditEntry?) -> BSONDocument {
        entry.map { with("$push", ["audit": .document($0.element)]) } ?? self
    }
}

extension MongoConnection {
    /// The oldest entries that were not refused.
    func pendingAudit(limit: Int) throws -> [PendingAuditEntry] {
        let removed = try removedAudit(["_id": Self.isEntry, "refused": ["$ne": true]], limit: limit)
        guard removed.count < limit else { return removed }
        let messages = try find(
            pendingMessages, in: MessageCollection.name,
            options: [
                // The index of all messages by their keys would serve as well, but nearly all of them have nothing pending.
                "hint": .string(MessageCollection.auditIndex), "sort": ["msi_key": 1],
                "limit": .int64(Int64(limit - removed.count)), "projection": ["msi_key": 1, "audit": 1],
            ])
        return removed + (try messages.flatMap(entries))
    }

    func storedAudit(after last: ObjectID?, limit: Int) throws -> [PendingAuditEntry] {
        let isLater: BSONValue = last.map { ["$gt": $0.bson] } ?? Self.isEntry
        let ofMessages = try aggregate(
            [
                ["$match": .document(pendingMessages)], ["$project": ["msi_key": 1, "audit": 1]], ["$unwind": "$audit"],
                ["$match": ["audit.id": isLater]], ["$sort": ["audit.id": 1]], ["$limit": .int64(Int64(limit))],
                ["$project": ["msi_key": 1, "audit": ["$concatArrays": [["$audit"]]]]],
            ], in: MessageCollection.name
        ).flatMap(entries)
        let removed = try removedAudit(["_id": isLater], limit: limit)
        // An entry of a message that is just being removed is in both.
        let byID = Dictionary((ofMessages + removed).map { ($0.id, $0) }) { $1 }
        return Array(byID.values.sorted { $0.id < $1.id }.prefix(limit))
    }

    func acknowledgeAudit(_ entries: [PendingAuditEntry]) throws {
        try removeFromMessages(entries)
        _ = try delete(["_id": ["$in": entries.map(\.id).bson]], from: MessageCollection.removedAudit)
    }

    func refuseAudit(_ entry: PendingAuditEntry) throws {
        try addRemovedAudit(entry)
        _ = try update(["_id": entry.id.bson], ["$set": ["refused": true]], in: MessageCollection.removedAudit)
        try removeFromMessages([entry])
    }

    func auditBacklog() throws -> AuditBacklog {
        let most = BSONValue.int64(Int64(AuditBacklog.maxCounted))
        let removed = try find(
            ["_id": Self.isEntry, "refused": ["$ne": true]], in: MessageCollection.removedAudit,
            options: ["sort": ["_id": 1], "limit": most, "projection": ["_id": 1]]
        ).map { try BSONFields($0).value("_id", as: ObjectID.self) }
        let messages = try find(
            pendingMessages, in: MessageCollection.name,
            options: [
                "hint": .string(MessageCollection.auditIndex), "limit": most, "projection": ["msi_key": 1, "audit.id": 1],
            ]
        ).flatMap(entries)
        let refused = try find(
            ["refused": true], in: MessageCollection.removedAudit, options: ["projection": ["_id": 1]])
        let waiting = removed + messages.map(\.id)
        return AuditBacklog(
            count: min(waiting.count, AuditBacklog.maxCounted), oldest: waiting.min()?.created, refused: refused.count)
    }

    /// Adds the entries of another store. Those that are stored already change nothing.
    func addPendingAudit(_ entries: [PendingAuditEntry]) throws {
        for entry in entries {
            guard let msiKey = entry.msiKey, !entry.isRefused else {
                try addRemovedAudit(entry)
                continue
            }
            let message: BSONDocument = ["msi_key": msiKey.bson]
            let isAdded =
                try update(
                    ["msi_key": msiKey.bson, "audit.id": ["$ne": entry.id.bson]], BSONDocument().adding(entry),
                    in: MessageCollection.name
                ).matched > 0
            guard !isAdded else { continue }
            let found = try find(message, in: MessageCollection.name, options: ["projection": ["_id": 1], "limit": 1])
            if found.isEmpty { try addRemovedAudit(entry) }
        }
    }

    /// Keeps an entry when its message is removed.
    func addRemovedAudit(_ entry: PendingAuditEntry) throws {
        let fields: [(String, BSONValue)] =
            [("msi_key", entry.msiKey?.bson ?? .null), ("entry", .string(entry.json))]
            + (entry.isRefused ? [("refused", true)] : [])
        _ = try update(
            ["_id": entry.id.bson], ["$setOnInsert": .document(BSONDocument(fields))], in: MessageCollection.removedAudit,
            options: ["upsert": true])
    }

    /// The entries in a document of a message.
    func entries(_ message: BSONDocument) throws -> [PendingAuditEntry] {
        let fields = try BSONFields(message)
        let msiKey: ObjectID = try fields.value("msi_key")
        return try fields.parts("audit").compactMap { try? PendingAuditEntry($0.get(), of: msiKey) }
    }

    /// The condition for ids of entries of the product: another program may have inserted others.
    private static var isEntry: BSONValue { ["$type": "objectId"] }

    private var pendingMessages: BSONDocument {
        ["audit.id": MessageCollection.isPending, "msi_key": Self.isEntry, "audit": ["$type": "array"]]
    }

    private func removedAudit(_ filter: BSONDocument, limit: Int) throws -> [PendingAuditEntry] {
        try find(
            filter, in: MessageCollection.removedAudit, options: ["sort": ["_id": 1], "limit": .int64(Int64(limit))]
        ).compactMap { try? PendingAuditEntry(removed: $0) }
    }

    /// Removes entries from their messages, with one update for each message.
    private func removeFromMessages(_ entries: [PendingAuditEntry]) throws {
        let ids = entries.map(\.id).bson
        let others: BSONValue = [
            "$filter": ["input": "$audit", "as": "entry", "cond": ["$not": [["$in": ["$$entry.id", ids]]]]]
        ]
        // The keys of a pipeline are the positions of its stages.
        let pipeline: BSONDocument = [
            "0": ["$set": ["audit": others]],
            "1": ["$set": ["audit": ["$cond": [["$eq": ["$audit", .array([])]], "$$REMOVE", "$audit"]]]],
        ]
        _ = try update(
            [
                "msi_key": ["$in": Array(Set(entries.compactMap(\.msiKey))).bson], "audit.id": ["$in": ids],
                "audit": ["$type": "array"],
            ],
            pipeline, in: MessageCollection.name, all: true)
    }
}

import FoundationEssentials
import Base
import Store
import Schemas

/// The entries for the audit log that are in the documents of their messages, until they are moved into the queue. The field `audit`
/// is absent if there is nothing.
extension PendingAuditEntry {
    /// - Parameter message: The fields of its message.
    /// - Throws: ``BSONError`` if the element has no id.
    fileprivate init(_ element: BSONFields, of message: BSONFields) throws(BSONError) {
        let id: ObjectID = try element.value("id")
        let entry: String? = try? element.value("entry")
        if let entry, (try? JSONCoder.decode(AuditEntry.self, from: Data(entry.utf8))) != nil {
            self.init(id: id, json: entry)
            return
        }
        // Another program has changed it. The log's substitute for it names the message.
        let damaged = entry ?? (try? BSONDocument(element.all.map { ($0.key, $0.value) }).extendedJSON) ?? ""
        let msiKey: ObjectID? = try? message.value("msi_key")
        let named: String? = msiKey.flatMap { msiKey in
            let content: JSONValue = ["object": ["kind": "message", "id": .string("\(msiKey)")], "damaged": .string(damaged)]
            return (try? JSONCoder.encode(content)).map { String(decoding: $0, as: UTF8.self) }
        }
        self.init(id: id, json: named ?? damaged)
    }

    /// The element of its message.
    var element: BSONDocument { ["id": id.bson, "entry": .string(json)] }
}

extension BSONDocument {
    /// An update that also adds an entry.
    func adding(_ entry: PendingAuditEntry?) -> BSONDocument {
        entry.map { with("$push", ["audit": .document($0.element)]) } ?? self
    }
}

extension MongoConnection {
    private static let messagesAtATime = 200

    /// Moves all entries of messages into the queue. If it is interrupted, an entry may be in both for a while, and be sent twice.
    func collectAudit() throws {
        let pending: BSONDocument = ["audit.id": MessageCollection.isPending, "audit": ["$type": "array"]]
        while true {
            let messages = try find(
                pending, in: MessageCollection.name,
                options: [
                    // The index of all messages by their keys would serve as well, but nearly all of them have nothing pending.
                    "hint": .string(MessageCollection.auditIndex), "sort": ["msi_key": 1],
                    "limit": .int64(Int64(Self.messagesAtATime)),
                    "projection": ["msi_key": 1, "audit": 1],
                ])
            let entries = try messages.flatMap(entries)
            try ArchiveAudit.declaration.record(entries, on: self)
            try remove(entries, from: messages)
            guard messages.count == Self.messagesAtATime, !entries.isEmpty else { return }
        }
    }

    /// The pending audit entries in a message's document. Only the fields `msi_key` and `audit` are read.
    func entries(_ message: BSONDocument) throws -> [PendingAuditEntry] {
        let fields = try BSONFields(message)
        return try fields.parts("audit").compactMap { try? PendingAuditEntry($0.get(), of: fields) }
    }

    /// Removes entries from their messages, with one command.
    private func remove(_ entries: [PendingAuditEntry], from messages: [BSONDocument]) throws {
        guard !entries.isEmpty else { return }
        let ids = entries.map(\.id).bson
        let others: BSONValue = [
            "$filter": ["input": "$audit", "as": "entry", "cond": ["$not": [["$in": ["$$entry.id", ids]]]]]
        ]
        // The keys of a pipeline are the positions of its stages.
        let pipeline: BSONDocument = [
            "0": ["$set": ["audit": others]],
            "1": ["$set": ["audit": ["$cond": [["$eq": ["$audit", .array([])]], "$$REMOVE", "$audit"]]]],
        ]
        let documents = try messages.map { try BSONFields($0)["_id"] ?? .null }
        _ = try update(
            ["_id": ["$in": .array(documents)], "audit.id": ["$in": ids], "audit": ["$type": "array"]], pipeline,
            in: MessageCollection.name, all: true)
    }
}

import Store
import Schemas

/// The record that an item has after a turn.
struct Settlement: Sendable {
    /// The item's key, as callers use it.
    let key: ObjectID
    /// The item's document, if others may have the same key.
    var document: ObjectID?
    /// The lease that the stored record must have.
    let lease: Lease
    private let fields: [RecordField]

    init(_ key: ObjectID, leased lease: Lease, _ record: some BSONRecord) {
        self.key = key
        self.lease = lease
        fields = record.turnFields
    }

    fileprivate func update(in collection: OutboxCollection) -> DocumentUpdate {
        var filter: [(String, BSONValue)] = [
            (collection.keyField, key.bson), ("relay.lease.owner", lease.owner.bson), ("relay.lease.until", lease.until.bson),
        ]
        if let document { filter.append(("_id", document.bson)) }
        return DocumentUpdate(BSONDocument(filter), .change(to: fields))
    }

    /// Whether a stored record is the one that the item is to have.
    ///
    /// - Parameter relay: The record's document.
    fileprivate func isStored(in relay: BSONFields) -> Bool {
        (try? fields.allSatisfy { field in try relay[field.key] == field.value }) ?? false
    }
}

extension MongoConnection {
    /// Stores records after turns, with one command and no read before it.
    ///
    /// - Returns: For each one whether it is stored. `false` if the item has another lease or none, or does not exist.
    /// - Throws: ``MongoError`` if the outcome of all of them is unknown.
    func settle(_ settlements: [Settlement], in collection: OutboxCollection) throws -> [Result<Bool, any Error>] {
        let written = try update(settlements.map { $0.update(in: collection) }, in: collection.name)
        // The server tells how many have matched, and not which ones.
        let stored = try written.allMatched ? nil : positionsOfStored(settlements, in: collection)
        return written.errors.enumerated().map { position, error in
            error.map { .failure($0) } ?? .success(stored?.contains(position) ?? true)
        }
    }

    /// Compares records with the stored ones. One that somebody has changed since it was stored is missing in the result.
    private func positionsOfStored(_ settlements: [Settlement], in collection: OutboxCollection) throws -> Set<Int> {
        let positions = Dictionary(grouping: settlements.indices) { settlements[$0].key }
        let keys = Array(positions.keys)
        var stored: Set<Int> = []
        for start in stride(from: 0, to: keys.count, by: Self.batch) {
            let batch = keys[start..<min(start + Self.batch, keys.count)]
            let documents = try find(
                [collection.keyField: ["$in": Array(batch).bson]], in: collection.name,
                options: ["projection": [collection.keyField: 1, "relay": 1]])
            for document in documents {
                // A document that is unreadable is not as it was stored.
                guard let fields = try? BSONFields(document), let relay = try? fields.fields("relay"),
                    let key = try? fields.value(collection.keyField, as: ObjectID.self)
                else { continue }
                stored.formUnion(positions[key, default: []].filter { settlements[$0].isStored(in: relay) })
            }
        }
        return stored
    }
}

import Logging

/// Brings the indexes of a collection in line with its declaration.
struct MongoIndexes {
    let collection: CollectionForm
    let logger: Logger

    /// Removes the layer's unique indexes that are no longer declared: they would refuse documents that are allowed now. Other
    /// indexes do no harm, and an older instance may still need them.
    func removeFormer(_ connection: MongoConnection) throws {
        let declared = Set(collection.indexes.map(\.name))
        for index in try present(connection) {
            guard let name: String = try index.optional("name"), IndexForm.isName(name), !declared.contains(name),
                try index.optional("unique", as: Bool.self) == true
            else { continue }
            try remove(name, connection)
        }
    }

    /// Creates the collection and its missing indexes. Replaces another program's index of the same name and another form.
    ///
    /// - Throws: ``MongoError`` with code `duplicate_key` if stored documents violate a unique index.
    func make(_ connection: MongoConnection) throws {
        // Makes the collection, so that no transaction has to.
        _ = try connection.write([
            "createIndexes": .string(collection.name), "indexes": [["name": "_id_", "key": ["_id": 1]]],
        ])
        for index in collection.indexes {
            do {
                try create(index, connection)
            } catch let error as MongoError where error.code == .indexConflict {
                logger.notice(
                    "an index differs from its declaration and is created again",
                    metadata: ["collection": "\(collection.name)", "index": "\(index.name)"])
                let key = try BSONFields(index.document).value("key", as: BSONDocument.self)
                for other in try present(connection) {
                    guard let name: String = try other.optional("name"), name != "_id_" else { continue }
                    if try name == index.name || other.optional("key") == key { try remove(name, connection) }
                }
                try create(index, connection)
            }
        }
    }

    private func create(_ index: IndexForm, _ connection: MongoConnection) throws {
        _ = try connection.write(["createIndexes": .string(collection.name), "indexes": [.document(index.document)]])
    }

    private func remove(_ name: String, _ connection: MongoConnection) throws {
        _ = try connection.write(["dropIndexes": .string(collection.name), "index": .string(name)])
    }

    private func present(_ connection: MongoConnection) throws -> [BSONFields] {
        let reply: BSONFields
        do {
            reply = try BSONFields(connection.read(["listIndexes": .string(collection.name)]))
        } catch let error as MongoError where error.code == .noCollection {
            // The first index or document creates the collection.
            return []
        }
        return try reply.fields("cursor").list("firstBatch")
    }
}

extension IndexForm {
    fileprivate var document: BSONDocument {
        // `_id` breaks ties, so that a page can continue.
        let keys = fields.map(\.name) + (kind == .unique ? [] : [Envelope.identifier])
        let index: BSONDocument = ["name": .string(name), "key": .document(BSONDocument(keys.map { ($0, 1) }))]
        guard kind == .unique else { return index }
        // Documents without an optional field are exempt.
        let present = fields.filter(\.isOptional).map { ($0.name, BSONValue.document(["$gte": $0.lowest])) }
        let unique = index.with("unique", true)
        return present.isEmpty ? unique : unique.with("partialFilterExpression", .document(BSONDocument(present)))
    }
}

import MongoDatabase

/// The collection that lists a database's collections, with their stores and schemas. A store registers its collections when it
/// is opened; `msi migrate` moves the registered ones.
enum StoreRegister {
    static let name = "storage"

    static func entry(_ collection: String, of store: String, schema: Int64) -> BSONDocument {
        ["_id": .string(collection), "store": .string(store), "schema": .int64(schema)]
    }

    static let form = CollectionForm(
        name: name, identifier: .identifier(String.lowest), indexes: [], upgrades: [])

    /// The schema that all documents of a collection have at least; 1 if it is unknown.
    static func schema(of collection: String, in session: some DocumentSession) throws -> Int64? {
        let found = try session.find(
            Selection(where: .equal(form.identifier, .string(collection)), of: form, limit: 1)
        ).first
        return try found.map { try BSONFields($0).value("schema") }
    }

    /// Registers a collection whose documents all have its schema.
    static func note(_ collection: CollectionForm, of store: String, in session: some DocumentSession) throws {
        let id = BSONValue.string(collection.name)
        let entry = entry(collection.name, of: store, schema: collection.schema)
        let found = try session.find(Selection(where: .equal(form.identifier, id), of: form, limit: 1)).first
        guard let found else {
            do {
                return try session.insert(entry, id, into: form)
            } catch is UniqueViolation {
                // Another instance that opens the store has just registered it, perhaps with an older schema.
                return try note(collection, of: store, in: session)
            }
        }
        // An older instance beside a newer one must not lower it.
        guard try BSONFields(found).value("schema", as: Int64.self) < collection.schema else { return }
        try session.replace(found, by: entry, id, in: form)
    }
}

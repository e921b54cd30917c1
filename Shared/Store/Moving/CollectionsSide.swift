import Base
import FoundationEssentials
import Logging
import Schemas
import Synchronization

/// A collection that is registered in a database.
struct RegisteredCollection: Hashable, Sendable {
    let name: String
    let store: String
    let schema: Int64

    init(name: String, store: String) {
        self.name = name
        self.store = store
        schema = 1
    }

    init(_ entry: BSONDocument) throws(BSONError) {
        let fields = try BSONFields(entry)
        name = try fields.value("_id")
        store = try fields.value("store")
        schema = try fields.value("schema")
    }

    /// Whether it has entries for the audit log. These are not compared: one of the two databases may have forwarded some of them since
    /// an earlier copy, and forwarding them again changes nothing.
    var isAuditQueue: Bool { AuditCollections.contain(name, of: store) }

    /// The part of its form that a move needs: the identifier.
    var form: CollectionForm {
        CollectionForm(name: name, identifier: .identifier(String.lowest))
    }
}

/// One side of a move of collections.
final class CollectionsSide: Sendable {
    private let folder: String?
    private let mongodb: MongoBackend?
    /// The opened files, by the names of their stores.
    private let files = Mutex<[String: SQLiteBackend]>([:])

    private init(folder: String?, mongodb: MongoBackend?) {
        self.folder = folder
        self.mongodb = mongodb
    }

    static func files(in folder: String) -> CollectionsSide {
        CollectionsSide(folder: folder, mongodb: nil)
    }

    static func mongodb(at url: MongoURL) async -> CollectionsSide {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        return CollectionsSide(folder: nil, mongodb: await MongoBackend(url, logger: logger))
    }

    /// The collections of all stores, by name.
    func registered() async throws -> [RegisteredCollection] {
        var entries: [BSONDocument] = []
        if let mongodb {
            entries = try await mongodb.read { try $0.scan(StoreRegister.name, after: nil, limit: .max).documents }
        } else if let folder {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            for name in names where name.hasSuffix(".sqlite") {
                guard try SQLiteBackend.hasCollections(folder + "/" + name) else { continue }
                let file = try file(of: String(name.dropLast(7)))
                entries += try await file.read { try $0.scan(StoreRegister.name, after: nil, limit: .max).documents }
            }
        }
        return try entries.map { try RegisteredCollection($0) }.sorted { $0.name < $1.name }
    }

    /// The database of a collection; `nil` if the collection does not exist, and so has no documents.
    func present(_ collection: RegisteredCollection) async throws -> (any StorageBackend)? {
        if let mongodb { return mongodb }
        guard let folder, FileManager.default.fileExists(atPath: "\(folder)/\(collection.store).sqlite") else { return nil }
        let file = try file(of: collection.store)
        return try await file.has(collection.name) ? file : nil
    }

    /// The database of a collection. Creates the collection if it is missing.
    func made(_ collection: RegisteredCollection) async throws -> any StorageBackend {
        if let mongodb { return mongodb }
        let file = try file(of: collection.store)
        try await file.make([StoreRegister.name, collection.name])
        return file
    }

    func close() async throws {
        for file in files.withLock({ $0.values }) { try await file.close() }
        try await mongodb?.close()
    }

    private func file(of store: String) throws -> SQLiteBackend {
        guard let folder else { preconditionFailure("a side of files has a folder") }
        return try files.withLock { files in
            if let file = files[store] { return file }
            let file = try SQLiteBackend(path: "\(folder)/\(store).sqlite")
            files[store] = file
            return file
        }
    }
}

/// All stores of collections, as registered in the source database (``StoreRegister``). A new store needs no line here. Documents
/// are moved as stored, with fields that no type knows.
package struct MovableCollections: MovableStore {
    private let required: [String: [String]]
    private let stores: MovedStores

    package var requiredFiles: [String] { required.keys.sorted().map { "\($0).sqlite" } }

    /// - Parameters:
    ///   - required: The stores that a service always opens, with those collections that other programs may have filled before the store
    ///     has registered them.
    ///   - stores: The stores to move.
    package init(required: [String: [String]] = [:], of stores: MovedStores = .all) {
        self.required = required
        self.stores = stores
    }

    package func open(_ places: MovePlaces) async throws -> any StoreMove {
        for file in requiredFiles { try StoredDocuments.check(file, in: places.folder) }
        let sides = places.sides(
            sqlite: CollectionsSide.files(in: places.folder), mongodb: await CollectionsSide.mongodb(at: places.url))
        let collections = required.flatMap { store, names in names.map { RegisteredCollection(name: $0, store: store) } }
        return CollectionsMove(
            source: sides.source, target: sides.target, required: collections, stores: stores, otherTarget: places.otherTarget)
    }
}

/// The stores that a move is about.
package enum MovedStores: Hashable, Sendable {
    case all
    case only(String)
    /// All but one.
    case others(than: String)

    func contains(_ store: String) -> Bool {
        switch self {
        case .all: true
        case .only(let name): store == name
        case .others(let name): store != name
        }
    }
}

/// The collection that lists a database's collections, with their stores and schemas. A store registers its collections when it
/// is opened; `msi migrate` moves the registered ones.
enum StoreRegister {
    static let name = "storage"

    static func entry(_ collection: String, of store: String, schema: Int64) -> BSONDocument {
        ["_id": .string(collection), "store": .string(store), "schema": .int64(schema)]
    }

    static let form = CollectionForm(name: name, identifier: .identifier(String.lowest))

    /// The schema that all documents of a collection have at least; 1 if it is unknown.
    static func schema(of collection: String, in session: some DocumentSession) throws -> Int64? {
        let found = try session.find(
            Selection(where: .equal(form.identifier, .string(collection)), of: form, limit: 1)
        ).first
        return try found.map { try BSONFields($0).value("schema") }
    }

    /// Refuses a collection for which a later version has registered a schema that this one does not know.
    ///
    /// - Parameter database: Its name, for the error.
    /// - Throws: ``UnknownFormat``; an error of the database.
    static func check(_ collection: CollectionForm, in session: some DocumentSession, of database: String) throws {
        guard let schema = try schema(of: collection.name, in: session) else { return }
        try collection.formats.check(Int(schema), of: "\(collection.name) in \(database)")
    }

    /// Registers a collection whose documents all have a schema.
    static func note(_ collection: String, of store: String, schema: Int64, in session: some DocumentSession) throws {
        let id = BSONValue.string(collection)
        let entry = entry(collection, of: store, schema: schema)
        let found = try session.find(Selection(where: .equal(form.identifier, id), of: form, limit: 1)).first
        guard let found else {
            do {
                return try session.insert(entry, id, into: form)
            } catch is UniqueViolation {
                // Another instance that opens the store has just registered it, perhaps with an older schema.
                return try note(collection, of: store, schema: schema, in: session)
            }
        }
        // An older instance beside a newer one must not lower it.
        guard try BSONFields(found).value("schema", as: Int64.self) < schema else { return }
        try session.replace(found, by: entry, id, in: form)
    }
}

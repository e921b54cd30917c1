import EmbeddedDatabase
import FoundationEssentials
import Logging
import MongoDatabase
import Schemas
import Synchronization

/// A collection that is registered in a database.
struct RegisteredCollection: Hashable, Sendable {
    let name: String
    let store: String
    let schema: Int64

    init(_ entry: BSONDocument) throws(BSONError) {
        let fields = try BSONFields(entry)
        name = try fields.value("_id")
        store = try fields.value("store")
        schema = try fields.value("schema")
    }

    /// The part of its form that a move needs: the identifier.
    var form: CollectionForm {
        CollectionForm(name: name, identifier: .identifier(String.lowest), indexes: [], upgrades: [])
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

import FoundationEssentials
import Schemas

/// Moves the documents of registered collections, and of those that are required.
struct CollectionsMove: StoreMove {
    let source: CollectionsSide
    let target: CollectionsSide
    /// Other programs may have filled these before a service has registered them.
    let required: [RegisteredCollection]
    let stores: MovedStores
    let otherTarget: String

    private static let batch = 200

    func checkTarget() async throws {
        let sources = Dictionary(try await collections(of: source).map { ($0.name, $0) }) { first, _ in first }
        let targets = Dictionary(try await collections(of: target).map { ($0.name, $0) }) { first, _ in first }
        // Those of the source too: documents may be in the target although nothing has registered them there.
        let all = sources.merging(targets) { _, target in target }.values.sorted { $0.name < $1.name }
        for collection in all where !collection.isAuditQueue {
            guard let stored = try await target.present(collection) else { continue }
            let original: (any StorageBackend)? =
                if let known = sources[collection.name] { try await source.present(known) } else { nil }
            try await Self.forEach(collection, of: stored) { document, id in
                let previous = try await original?.document(id, of: collection)
                guard let previous else {
                    throw refusal("it contains \(collection.name) \(document.identifier), which is not in the source")
                }
                try check(document, toBecome: previous, of: collection)
            }
        }
    }

    func copy(report: (String) -> Void) async throws {
        for collection in try await collections(of: source) {
            guard let original = try await source.present(collection) else { continue }
            let copy = try await target.made(collection)
            var copied = 0
            var last: BSONValue?
            while case let page = try await original.page(of: collection, after: last), let end = page.last {
                last = end
                copied += try await write(page.documents, to: copy, collection)
            }
            try await register(collection, in: copy)
            report("\(collection.name): \(copied) copied now")
        }
    }

    /// All collections are read from one snapshot: their documents refer to each other, such as the head of the audit log to its
    /// last entry. A snapshot of MongoDB lasts a minute at most, so it is read into memory.
    func copyWhileInUse(report: (String) -> Void) async throws {
        let collections = try await self.collections(of: source)
        guard let first = collections.first, let database = try await source.present(first) else { return }
        let contents = try await database.snapshot { session in
            try collections.map { collection in
                var documents: [(document: BSONDocument, id: BSONValue)] = []
                var last: BSONValue?
                while case let page = try session.page(of: collection, after: last), let end = page.last {
                    last = end
                    documents += page.documents
                }
                return (collection: collection, documents: documents)
            }
        }
        for (collection, documents) in contents {
            let copy = try await target.made(collection)
            for start in stride(from: 0, to: documents.count, by: Self.batch) {
                _ = try await write(Array(documents[start..<min(start + Self.batch, documents.count)]), to: copy, collection)
            }
            try await register(collection, in: copy)
            report("\(collection.name): \(documents.count) copied")
        }
    }

    private func collections(of side: CollectionsSide) async throws -> [RegisteredCollection] {
        let registered = try await side.registered().filter { stores.contains($0.store) }
        let names = Set(registered.map(\.name))
        return (registered + required.filter { !names.contains($0.name) }).sorted { $0.name < $1.name }
    }

    private func register(_ collection: RegisteredCollection, in copy: any StorageBackend) async throws {
        try await copy.write {
            try StoreRegister.note(collection.name, of: collection.store, schema: collection.schema, in: $0)
        }
    }

    /// - Returns: How many of the documents were new or changed.
    private func write(
        _ documents: [(document: BSONDocument, id: BSONValue)], to copy: any StorageBackend, _ collection: RegisteredCollection
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for (document, id) in documents { group.addTask { try await write(document, id, to: copy, collection) } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    func compare() async throws -> [StoreComparison] {
        var comparisons: [StoreComparison] = []
        for collection in try await collections(of: source) where !collection.isAuditQueue {
            comparisons.append(
                StoreComparison(
                    collection.name, of: "documents", source: try await digest(of: collection, in: source),
                    target: try await digest(of: collection, in: target)))
        }
        return comparisons
    }

    func close() async throws {
        try await source.close()
        try await target.close()
    }

    // MARK: Documents

    /// - Returns: Whether it has written anything.
    private func write(
        _ document: BSONDocument, _ id: BSONValue, to copy: any StorageBackend, _ collection: RegisteredCollection
    ) async throws -> Bool {
        do {
            return try await copy.write { session in
                guard let stored = try session.find(id: id, of: collection.form) else {
                    try session.insert(document, id, into: collection.form)
                    return true
                }
                let previous = try stored.normalised
                guard previous != document else { return false }
                try check(previous, toBecome: document, of: collection)
                try session.replace(stored, by: document, id, in: collection.form)
                return true
            }
        } catch let violation as UniqueViolation {
            throw MigrationFailure(
                "\(collection.name) \(document.identifier) of the source breaks the index \"\(violation.index)\" of the target")
        }
    }

    private func check(_ stored: BSONDocument, toBecome source: BSONDocument, of collection: RegisteredCollection) throws {
        guard stored != source else { return }
        let revisions = (try Envelope.revision(of: stored) ?? .none, try Envelope.revision(of: source) ?? .none)
        guard revisions.0 < revisions.1 else {
            if revisions.0 == revisions.1 {
                throw refusal("\(collection.name) \(stored.identifier) there differs from that in the source")
            }
            throw refusal(
                "\(collection.name) \(stored.identifier) is at revision \(revisions.0) there, and at \(revisions.1) in the source"
            )
        }
    }

    private func digest(of collection: RegisteredCollection, in side: CollectionsSide) async throws -> StoreDigest {
        var digest = StoreDigest()
        guard let database = try await side.present(collection) else { return digest }
        var last: BSONValue?
        while case let page = try await database.page(of: collection, after: last), let end = page.last {
            last = end
            for (document, _) in page.documents { digest.add(document.withUnsafeBytes { Data($0) }) }
        }
        return digest
    }

    private static func forEach(
        _ collection: RegisteredCollection, of database: any StorageBackend,
        _ body: (BSONDocument, BSONValue) async throws -> Void
    ) async throws {
        var last: BSONValue?
        while case let page = try await database.page(of: collection, after: last), let end = page.last {
            last = end
            for (document, id) in page.documents { try await body(document, id) }
        }
    }

    private func refusal(_ reason: String) -> MigrationFailure { .otherContents(reason, otherTarget: otherTarget) }

    fileprivate static var pageSize: Int { batch }
}

extension StorageBackend {
    /// The next documents in the order of their identifiers, in a form that is the same on both sides.
    fileprivate func page(
        of collection: RegisteredCollection, after id: BSONValue?
    ) async throws -> (documents: [(document: BSONDocument, id: BSONValue)], last: BSONValue?) {
        try await read { try $0.page(of: collection, after: id) }
    }

    fileprivate func document(_ id: BSONValue, of collection: RegisteredCollection) async throws -> BSONDocument? {
        try await read { try $0.find(id: id, of: collection.form) }.map { try $0.normalised }
    }
}

extension DocumentSession {
    /// The next documents in the order of their identifiers, in a form that is the same on both sides.
    fileprivate func page(
        of collection: RegisteredCollection, after id: BSONValue?
    ) throws -> (documents: [(document: BSONDocument, id: BSONValue)], last: BSONValue?) {
        let page = try scan(collection.name, after: id, limit: CollectionsMove.pageSize)
        let documents = try page.documents.map { document in
            // Throws if it is not a document.
            _ = try Envelope.schema(of: document)
            return (document: try document.normalised, id: try BSONFields(document)[Envelope.identifier] ?? .null)
        }
        return (documents, page.last)
    }

    fileprivate func find(id: BSONValue, of form: CollectionForm) throws -> BSONDocument? {
        try find(Selection(where: .equal(form.identifier, id), of: form, limit: 1)).first
    }
}

extension BSONDocument {
    /// Whole numbers as int64: Extended JSON does not tell them from int32.
    fileprivate var normalised: BSONDocument {
        get throws { BSONDocument(try BSONFields(self).all.map { ($0.key, try $0.value.normalised) }) }
    }
}

extension BSONValue {
    fileprivate var normalised: BSONValue {
        get throws {
            switch self {
            case .int32(let number): .int64(Int64(number))
            case .document(let document): .document(try document.normalised)
            case .array(let values): .array(try values.map { try $0.normalised })
            default: self
            }
        }
    }
}

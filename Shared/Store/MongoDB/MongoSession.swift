/// The collections in MongoDB.
struct MongoSession: DocumentSession {
    let connection: MongoConnection

    var survivesViolation: Bool { !connection.isInTransaction }

    /// MongoDB keeps no reserve.
    func requireRoom() {}

    func find(_ selection: Selection) throws -> [BSONDocument] {
        let sort = selection.order.map { ($0.name, BSONValue.int32(selection.isDescending ? -1 : 1)) }
        var options: [(String, BSONValue)] = [
            ("limit", .int64(Int64(selection.limit))), ("skip", .int64(Int64(selection.skip))),
        ]
        if !sort.isEmpty { options.append(("sort", .document(BSONDocument(sort)))) }
        return try connection.find(
            BSONDocument(selection.predicate), in: selection.collection.name, options: BSONDocument(options))
    }

    func insert(_ document: BSONDocument, _ id: BSONValue, into collection: CollectionForm) throws {
        try naming {
            if let error = try connection.insert([document], into: collection.name)[0] { throw error }
        }
    }

    func insert(_ documents: [(BSONDocument, id: BSONValue)], into collection: CollectionForm) throws {
        guard !documents.isEmpty else { return }
        try naming {
            let errors = try connection.insert(documents.map(\.0), into: collection.name)
            if let error = errors.lazy.compactMap(\.self).first { throw error }
        }
    }

    func values(of field: FieldForm, among values: [BSONValue], in collection: CollectionForm) throws -> [BSONValue] {
        let isAmong = BSONDocument([(field.name, BSONValue.document(["$in": .array(values)]))])
        let projection = BSONDocument([(field.name, BSONValue.int32(1))])
        let found = try connection.find(isAmong, in: collection.name, options: ["projection": .document(projection)])
        return try found.map { try field.value(in: $0) }
    }

    func greatestID(upTo max: Int64, in collection: CollectionForm) throws -> Int64? {
        let found = try connection.find(
            ["_id": ["$gte": .int64(0), "$lte": .int64(max)]], in: collection.name,
            options: ["sort": ["_id": -1], "limit": 1, "projection": ["_id": 1]])
        return try found.first.flatMap { Int64(bson: try BSONFields($0)[Envelope.identifier] ?? .null) }
    }

    /// Writes only what has changed, so that another program's changes of other fields stay.
    func replace(_ read: BSONDocument, by document: BSONDocument, _ id: BSONValue, in collection: CollectionForm) throws {
        let (old, new) = (try StoredFields(read), try StoredFields(document))
        var set: [(String, BSONValue)] = []
        for key in new.keys {
            guard let value = new[key], old[key]?.isIdentical(to: value) != true else { continue }
            // Outside a transaction another program may have moved the elements since.
            if connection.isInTransaction, let old = old[key] {
                set += value.changes(from: old, at: key)
            } else {
                set.append((key, value))
            }
        }
        let unset = old.keys.filter { new[$0] == nil }.map { ($0, BSONValue.string("")) }
        guard !set.isEmpty || !unset.isEmpty else { return }
        let parts = [("$set", set), ("$unset", unset)].filter { !$0.1.isEmpty }
        let update = try naming {
            try connection.update(
                asRead(read, id), BSONDocument(parts.map { ($0.0, .document(BSONDocument($0.1))) }), in: collection.name)
        }
        guard update.matched == 1 else { throw Overtaken() }
    }

    func delete(_ read: BSONDocument, _ id: BSONValue, from collection: CollectionForm) throws {
        guard try connection.delete(asRead(read, id), from: collection.name) == 1 else { throw Overtaken() }
    }

    func delete(_ ids: [BSONValue], from collection: CollectionForm) throws {
        _ = try connection.delete(["_id": ["$in": .array(ids)]], from: collection.name)
    }

    func count(_ collection: CollectionForm, upTo max: Int) throws -> Int {
        try connection.find(
            [:], in: collection.name, options: ["limit": .int64(Int64(max)), "projection": ["_id": 1]]
        ).count
    }

    func delete(where predicate: Predicate, from collection: CollectionForm) throws -> Int {
        Int(try connection.delete(BSONDocument(predicate), from: collection.name))
    }

    func scan(_ collection: String, after id: BSONValue?, limit: Int) throws -> ScannedPage {
        // An expression also compares values of different types.
        let filter: BSONDocument = id.map { ["$expr": ["$gt": ["$_id", ["$literal": $0]]]] } ?? [:]
        let documents = try connection.find(
            filter, in: collection, options: ["sort": ["_id": 1], "limit": .int64(Int64(limit))])
        return ScannedPage(
            documents: documents, identifiers: try documents.map { try BSONFields($0)[Envelope.identifier] ?? .null })
    }

    /// Matches the document only at the revision that was read.
    private func asRead(_ read: BSONDocument, _ id: BSONValue) throws -> BSONDocument {
        BSONDocument([
            (Envelope.identifier, id), (Envelope.revision, try Envelope.revision(of: read)?.bson ?? .null),
        ])
    }

    /// Runs an operation whose error names the violated index: "… index: NAME dup key: …".
    private func naming<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as MongoError where error.code == .duplicateKey {
            // The key after the name may contain any text.
            let name = error.message.split(separator: "index: ", maxSplits: 1).last?.split(separator: " dup key").first
            throw UniqueViolation(index: String(name ?? ""))
        }
    }
}

extension BSONValue {
    /// The paths that turn another value into this one, and their new values: if one element of an array has changed, or one is new at
    /// its end, only what has changed in it.
    fileprivate func changes(from old: BSONValue, at path: String) -> [(String, BSONValue)] {
        let whole = [(path, self)]
        switch (old, self) {
        case (.array(let old), .array(let new)):
            let changed = new.indices.filter { !old.indices.contains($0) || !old[$0].isIdentical(to: new[$0]) }
            guard new.count >= old.count, changed.count == 1, let index = changed.first else { return whole }
            let place = "\(path).\(index)"
            return old.indices.contains(index) ? new[index].changes(from: old[index], at: place) : [(place, new[index])]
        case (.document(let old), .document(let new)):
            guard let old = try? StoredFields(old), let new = try? StoredFields(new) else { return whole }
            let isPath = new.keys.allSatisfy { !$0.isEmpty && !$0.contains(".") && !$0.hasPrefix("$") }
            guard isPath, Set(new.keys).count == new.keys.count, Set(new.keys).isSuperset(of: old.keys) else { return whole }
            return new.keys.flatMap { key -> [(String, BSONValue)] in
                guard let value = new[key], old[key]?.isIdentical(to: value) != true else { return [] }
                let place = "\(path).\(key)"
                return old[key].map { value.changes(from: $0, at: place) } ?? [(place, value)]
            }
        default: return whole
        }
    }
}

extension BSONDocument {
    /// A predicate as a filter.
    init(_ predicate: Predicate) {
        switch predicate {
        case .equal(let field, let value): self = BSONDocument([(field.name, value)])
        case .among(let field, let ids):
            self = BSONDocument([(field.name, .document(["$in": .array(ids.map(\.bson))]))])
        case .isPresent(let field): self = BSONDocument([(field.name, .document(["$ne": .null]))])
        case .less(let field, let value, let orEqual):
            self = BSONDocument([(field.name, .document(BSONDocument([(orEqual ? "$lte" : "$lt", value)])))])
        case .greater(let field, let value, let orEqual):
            self = BSONDocument([(field.name, .document(BSONDocument([(orEqual ? "$gte" : "$gt", value)])))])
        case .all(let predicates):
            self = predicates.isEmpty ? [:] : ["$and": .array(predicates.map { .document(BSONDocument($0)) })]
        case .any(let predicates):
            // An empty "$or" is refused.
            self = predicates.isEmpty ? ["$nor": [[:]]] : ["$or": .array(predicates.map { .document(BSONDocument($0)) })]
        }
    }
}

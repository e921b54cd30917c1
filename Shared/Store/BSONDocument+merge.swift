extension BSONDocument {
    /// This stored document with a change applied. Everything else stays as stored: fields that the document's type does not
    /// know, elements that it leaves out because they cannot be read, and the form of unchanged values.
    ///
    /// - Parameters:
    ///   - old: The type's encoding of the stored document.
    ///   - new: Its encoding of the changed one.
    package func merged(from old: BSONDocument, to new: BSONDocument) throws -> BSONDocument {
        guard old != new else { return self }
        let (oldFields, newFields) = (try StoredFields(old), try StoredFields(new))
        var merged = try StoredFields(self)
        for key in oldFields.keys where newFields[key] == nil { merged[key] = nil }
        for key in newFields.keys {
            guard let value = newFields[key], merged[key] != nil || oldFields[key]?.isIdentical(to: value) != true else {
                continue
            }
            merged[key] = try BSONValue.merged(merged[key], from: oldFields[key], to: value)
        }
        return merged.document
    }
}

extension BSONValue {
    /// Whether both have the same bytes. `==` is also true of texts that Unicode counts as equal, such as é as one scalar and as two.
    func isIdentical(to other: BSONValue) -> Bool {
        self == other && BSONDocument([("", self)]) == BSONDocument([("", other)])
    }

    fileprivate static func merged(_ stored: BSONValue?, from old: BSONValue?, to new: BSONValue) throws -> BSONValue {
        guard let stored, let old else { return new }
        guard !old.isIdentical(to: new) else { return stored }
        switch (stored, old, new) {
        case (.document(let stored), .document(let old), .document(let new)):
            return .document(try stored.merged(from: old, to: new))
        case (.array(let stored), .array(let old), .array(let new)):
            if let elements = try IdentifiedElements(stored, old, new) { return .array(try elements.merged()) }
            guard stored.count == old.count, old.count == new.count else { return .array(new) }
            return .array(try new.indices.map { try merged(stored[$0], from: old[$0], to: new[$0]) })
        default:
            return new
        }
    }
}

/// The elements of an array of inner documents with identifiers. They are matched by these, and not by their positions.
private struct IdentifiedElements {
    private let stored: [BSONValue]
    private let new: [BSONValue]
    /// The identifiers of the elements.
    private let storedIDs: [BSONValue?]
    private let newIDs: [BSONValue]
    private let old: [BSONValue: BSONValue]

    /// - Returns: `nil` if not all elements of the type's encodings have identifiers.
    init?(_ stored: [BSONValue], _ old: [BSONValue], _ new: [BSONValue]) throws {
        guard let key = try ["_id", "id"].first(where: { key in try (old + new).allSatisfy { try $0.field(key) != nil } }) else {
            return nil
        }
        self.stored = stored
        self.new = new
        // A second element with the same identifier is one that the type leaves out.
        var seen: Set<BSONValue> = []
        storedIDs = try stored.map { try $0.field(key) }.map { id in id.flatMap { seen.insert($0).inserted ? $0 : nil } }
        newIDs = try new.compactMap { try $0.field(key) }
        self.old = try Dictionary(old.compactMap { element in try element.field(key).map { ($0, element) } }) { first, _ in first
        }
    }

    func merged() throws -> [BSONValue] {
        let places = Dictionary(storedIDs.enumerated().compactMap { index, id in id.map { ($0, index) } }) { first, _ in first }
        var merged = try zip(newIDs, new).map { id, value in
            guard let old = old[id], let place = places[id] else { return value }
            return try BSONValue.merged(stored[place], from: old, to: value)
        }
        // What the type has left out stays behind the same number of elements.
        let present = Set(newIDs)
        var place = 0
        for (id, element) in zip(storedIDs, stored) {
            if let id, old[id] != nil {
                if present.contains(id) { place += 1 }
            } else {
                merged.insert(element, at: min(place, merged.count))
                place += 1
            }
        }
        return merged
    }
}

extension BSONValue {
    fileprivate func field(_ key: String) throws -> BSONValue? {
        guard case .document(let document) = self else { return nil }
        return try BSONFields(document)[key]
    }
}

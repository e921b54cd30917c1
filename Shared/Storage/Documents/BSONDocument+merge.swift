import MongoDatabase

extension BSONDocument {
    /// This stored document with a change applied. Everything else stays as stored: fields that the document's type does not
    /// know, and the form of unchanged values.
    ///
    /// - Parameters:
    ///   - old: The type's encoding of the stored document.
    ///   - new: Its encoding of the changed one.
    func merged(from old: BSONDocument, to new: BSONDocument) throws -> BSONDocument {
        guard old != new else { return self }
        let (oldFields, newFields) = (try StoredFields(old), try StoredFields(new))
        var merged = try StoredFields(self)
        for key in oldFields.keys where newFields[key] == nil { merged[key] = nil }
        for key in newFields.keys {
            guard let value = newFields[key] else { continue }
            merged[key] = try BSONValue.merged(merged[key], from: oldFields[key], to: value)
        }
        return merged.document
    }
}

extension BSONValue {
    fileprivate static func merged(_ stored: BSONValue?, from old: BSONValue?, to new: BSONValue) throws -> BSONValue {
        guard let stored, let old else { return new }
        guard old != new else { return stored }
        switch (stored, old, new) {
        case (.document(let stored), .document(let old), .document(let new)):
            return .document(try stored.merged(from: old, to: new))
        case (.array(let stored), .array(let old), .array(let new)) where stored.count == old.count:
            return .array(
                try new.enumerated().map { index, value in
                    // Elements are matched by their identifiers, not by their positions.
                    let position =
                        if let id = try value.partIdentifier {
                            try old.firstIndex { try $0.partIdentifier == id }
                        } else {
                            old.count == new.count ? index : nil
                        }
                    guard let position else { return value }
                    return try merged(stored[position], from: old[position], to: value)
                })
        default:
            return new
        }
    }

    /// The identifier of an inner document in an array.
    private var partIdentifier: BSONValue? {
        get throws {
            guard case .document(let document) = self else { return nil }
            let fields = try BSONFields(document)
            return try fields["_id"] ?? fields["id"]
        }
    }
}

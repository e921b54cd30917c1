import MongoDatabase

extension BSONDocument {
    /// This stored document with a change in it. What the change does not touch stays as it is stored: fields that the document's
    /// type does not know, and the form of the values that it does.
    ///
    /// - Parameters:
    ///   - old: What the type wrote of the stored document.
    ///   - new: What it writes of the changed one.
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
                    // The same element is the one with the same identifier, wherever it is now.
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

    /// What tells an inner document from its neighbours in an array.
    private var partIdentifier: BSONValue? {
        get throws {
            guard case .document(let document) = self else { return nil }
            let fields = try BSONFields(document)
            return try fields["_id"] ?? fields["id"]
        }
    }
}

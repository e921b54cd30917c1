import MongoDatabase
import Schemas

/// A part of a collection, in the order of the identifiers.
package struct ScannedDocuments<Document: StoredDocument>: Sendable {
    package let documents: [Stored<Document>]
    /// The identifiers of the documents that cannot be read.
    package let unreadable: [String]
    /// Where the next part begins; `nil` after the last one.
    package let next: Cursor?
}

extension BSONValue {
    /// An identifier as text, up to a bounded length.
    var identifierText: String {
        switch self {
        case .objectID(let id): id.description
        case .string(let text): String(text.prefix(100))
        case .int32(let number): "\(number)"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .bool, .null, .array, .document, .foreign: "a value of type \(type)"
        }
    }
}

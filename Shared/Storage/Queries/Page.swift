import FoundationEssentials
import JSON
import MongoDatabase
package import Schemas

/// A page of a query's documents.
package struct Page<Document: StoredDocument>: Sendable {
    package let documents: [Stored<Document>]
    /// Where the next page begins; `nil` after the last one.
    package let next: Cursor?
}

/// A position between two documents in the order of a query. It stays valid if documents change or are removed.
///
/// As text and in JSON it is unpadded URL-safe Base64, opaque to callers.
package struct Cursor: Hashable, Sendable {
    /// The last document's values in the fields of the order.
    let values: [BSONValue]
}

extension Cursor: LosslessStringConvertible {
    package init?(_ text: String) {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64), let document = try? BSONDocument(bytes: Array(data)),
            case .array(let values)? = try? BSONFields(document)["v"], values.allSatisfy(\.isScalar)
        else { return nil }
        self.values = values
    }

    package var description: String {
        let document: BSONDocument = ["v": .array(values)]
        let base64 = document.withUnsafeBytes { Data($0) }.base64EncodedString()
        return String(base64.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" })
    }
}

extension Cursor: TextCodable {
    package static var expected: String { "the cursor of a page" }
}

extension Cursor {
    /// The cursor that a caller sends back; `nil` for the first page.
    ///
    /// - Throws: ``CommandFailure`` with `invalid` for a text that is no cursor.
    package init?(after text: String?) throws(CommandFailure) {
        guard let text else { return nil }
        guard let cursor = Cursor(text) else {
            throw CommandFailure(.invalid, "after: expected the \"next\" of another page", field: "after")
        }
        self = cursor
    }
}

extension BSONValue {
    fileprivate var isScalar: Bool {
        switch self {
        case .objectID, .string, .int32, .int64, .double, .bool, .null: true
        case .array, .document, .foreign: false
        }
    }
}

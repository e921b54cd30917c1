import FoundationEssentials
import MongoDatabase

/// A part of what a query finds.
package struct Page<Document: StoredDocument>: Sendable {
    package let documents: [Stored<Document>]
    /// Where the next page begins; `nil` after the last one.
    package let next: Cursor?
}

/// A place between two documents in the order of a query. It stays where it is whatever becomes of the documents.
///
/// As text, and in JSON, it is unpadded URL-safe Base64, which callers hand back as they got it.
package struct Cursor: Hashable, Sendable {
    /// Those of the last document before the place, in the fields of the order.
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

extension Cursor: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let cursor = Cursor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected the cursor of a page")
        }
        self = cursor
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
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

import MongoDatabase
import Schemas

extension UnreadableDocuments {
    /// Those documents that can be read, in the same order. The log calls the others by their `_id`.
    func readable<Value>(of documents: [BSONDocument], as read: (BSONDocument) throws -> Value) throws -> [Value] {
        try readable(of: documents, named: Self.identifier, as: read)
    }

    private static func identifier(of document: BSONDocument) -> String {
        do {
            return switch try BSONFields(document)["_id"] {
            case .objectID(let identifier): identifier.description
            case .string(let text): String(text.prefix(100))
            case let other: String("\(other ?? .null)".prefix(100))
            }
        } catch {
            return "not readable either"
        }
    }
}

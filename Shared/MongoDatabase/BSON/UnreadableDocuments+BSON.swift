package import Schemas
package import UnreadableDocuments

extension UnreadableDocuments {
    /// The readable documents in order. The log names the others by their `_id`.
    package func readable<Value>(of documents: [BSONDocument], as read: (BSONDocument) throws -> Value) throws -> [Value] {
        try readable(of: documents, named: \.identifier, as: read)
    }
}

extension BSONDocument {
    /// The document as a value, for a request for this one alone.
    ///
    /// - Parameter kind: Such as `message`.
    /// - Throws: ``CommandFailure`` with status `conflict` if it is unreadable.
    package func readable<Value>(
        _ kind: String, as read: (BSONDocument) throws -> Value
    ) throws(CommandFailure) -> Value {
        do {
            return try read(self)
        } catch {
            throw .unreadable(kind, identifier, error)
        }
    }

    /// The `_id` as text.
    package var identifier: String {
        do {
            return switch try BSONFields(self)["_id"] {
            case .objectID(let identifier): identifier.description
            case .string(let text): String(text.prefix(100))
            case let other: String("\(other ?? .null)".prefix(100))
            }
        } catch {
            return "not readable either"
        }
    }
}

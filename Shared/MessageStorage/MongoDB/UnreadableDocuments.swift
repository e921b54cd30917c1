import Logging
import MongoDatabase
import Schemas
import Synchronization

/// What becomes of a stored document that is no message, because another program has written or changed it.
package enum UnreadableDocument: Sendable {
    /// It is left out, and the log names it: one such does not keep all others from being found and relayed.
    case skipped
    /// Reading it fails: whoever needs every message learns that one is missing.
    case refused
}

/// Reads the documents of `message`. Those that cannot be read are named in the log once, the first thousand of them.
final class UnreadableDocuments: Sendable {
    private static let mostNamed = 1_000

    private let treatment: UnreadableDocument
    private let logger: Logger
    private let named = Mutex<Set<String>>([])

    init(_ treatment: UnreadableDocument, logger: Logger) {
        self.treatment = treatment
        self.logger = logger
    }

    /// Those that can be read, in the same order.
    ///
    /// - Throws: ``BSONError`` for one that cannot, where those are not skipped.
    func readable<Value>(of documents: [BSONDocument], as read: (BSONDocument) throws -> Value) throws -> [Value] {
        try documents.compactMap { document in
            do {
                return try read(document)
            } catch let error as BSONError where treatment == .skipped {
                name(document, error)
                return nil
            }
        }
    }

    private func name(_ document: BSONDocument, _ error: BSONError) {
        let identifier = Self.identifier(of: document)
        let isNew = named.withLock { $0.count < Self.mostNamed && $0.insert(identifier).inserted }
        guard isNew else { return }
        logger.error(
            "a document in message cannot be read and is left out", metadata: ["_id": "\(identifier)", "error": "\(error)"])
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

package import Logging
package import Schemas
import Synchronization

/// How an unreadable stored document or row is treated. Another program has written or changed it.
package enum UnreadableDocument: Sendable {
    /// It is left out, and the log names it. So the other documents can still be used.
    case skipped
    /// Reading fails, for a caller that needs all documents.
    case refused
}

/// Leaves out unreadable documents. The log names each of them once, up to a thousand.
package final class UnreadableDocuments: Sendable {
    private static let maxNamed = 1_000

    private let kind: String
    private let treatment: UnreadableDocument
    private let logger: Logger
    private let named = Mutex<Set<String>>([])

    /// - Parameter kind: The kind of document for the log, such as `message`.
    package init(of kind: String, _ treatment: UnreadableDocument, logger: Logger) {
        self.kind = kind
        self.treatment = treatment
        self.logger = logger
    }

    /// The readable documents in order.
    ///
    /// - Parameters:
    ///   - name: A document's name for the log.
    ///   - read: Reads a document. Throws if it is unreadable.
    /// - Throws: ``CommandFailure`` for an unreadable document, if those are not skipped.
    package func readable<Stored, Value>(
        of stored: [Stored], named name: (Stored) -> String, as read: (Stored) throws -> Value
    ) throws -> [Value] {
        try stored.compactMap { one in
            do {
                return try read(one)
            } catch {
                try leaveOut(name(one), because: "\(error)")
                return nil
            }
        }
    }

    /// Logs the name of an omitted document, unless it is logged already.
    ///
    /// - Throws: ``CommandFailure`` if unreadable documents are not skipped.
    package func leaveOut(_ name: String, because reason: String) throws {
        guard treatment == .skipped else {
            throw CommandFailure(.internal, "the stored \(kind) \(name) cannot be used: \(reason)")
        }
        let isNew = named.withLock { $0.count < Self.maxNamed && $0.insert(name).inserted }
        guard isNew else { return }
        logger.error("a stored \(kind) cannot be used and is left out", metadata: [kind: "\(name)", "error": "\(reason)"])
    }
}

extension CommandFailure {
    /// The failure of a request for one stored document that cannot be read: another program has written or changed it.
    ///
    /// - Parameters:
    ///   - kind: Such as `message`.
    ///   - name: The document's name, such as its `msi_key`.
    package static func unreadable(_ kind: String, _ name: some Any, _ reason: any Error, field: String? = nil) -> CommandFailure
    {
        CommandFailure(
            .conflict, "\(kind) \(name) cannot be read (\(reason)), and is left as it is; put it right in the database",
            field: field)
    }
}

package import Logging
import Schemas
import Synchronization

/// What becomes of a stored document or row that is not what it should be, because another program has written or changed it.
package enum UnreadableDocument: Sendable {
    /// It is left out, and the log names it: one such does not keep all others from being used.
    case skipped
    /// Reading it fails: a caller that needs everything learns that something is missing.
    case refused
}

/// Leaves out what cannot be read. What is left out is named in the log once, the first thousand of it.
package final class UnreadableDocuments: Sendable {
    private static let maxNamed = 1_000

    private let kind: String
    private let treatment: UnreadableDocument
    private let logger: Logger
    private let named = Mutex<Set<String>>([])

    /// - Parameter kind: What is stored, such as `message`: for the log.
    package init(of kind: String, _ treatment: UnreadableDocument, logger: Logger) {
        self.kind = kind
        self.treatment = treatment
        self.logger = logger
    }

    /// Those that can be read, in the same order.
    ///
    /// - Parameters:
    ///   - name: What the log calls one of them.
    ///   - read: Throws for one that cannot be read.
    /// - Throws: ``CommandFailure`` for one that cannot be read, where those are not skipped.
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

    /// Names one that is left out in the log, unless it has been named before.
    ///
    /// - Throws: ``CommandFailure`` where none is to be left out.
    package func leaveOut(_ name: String, because reason: String) throws {
        guard treatment == .skipped else {
            throw CommandFailure(.internal, "what is stored as \(kind) \(name) cannot be used: \(reason)")
        }
        let isNew = named.withLock { $0.count < Self.maxNamed && $0.insert(name).inserted }
        guard isNew else { return }
        logger.error("a stored \(kind) cannot be used and is left out", metadata: [kind: "\(name)", "error": "\(reason)"])
    }
}

import Logging
import Schemas
import Synchronization

/// What becomes of a stored document or row that is no message, because another program has written or changed it.
package enum UnreadableDocument: Sendable {
    /// It is left out, and the log names it: one such does not keep all others from being found and relayed.
    case skipped
    /// Reading it fails: whoever needs every message learns that one is missing.
    case refused
}

/// Reads what is stored as messages. What cannot be read is named in the log once, the first thousand of them.
final class UnreadableDocuments: Sendable {
    private static let maxNamed = 1_000

    private let treatment: UnreadableDocument
    private let logger: Logger
    private let named = Mutex<Set<String>>([])

    init(_ treatment: UnreadableDocument, logger: Logger) {
        self.treatment = treatment
        self.logger = logger
    }

    /// Those that can be read, in the same order.
    ///
    /// - Parameters:
    ///   - name: What the log calls one of them.
    ///   - read: Throws for one that cannot be read.
    /// - Throws: ``CommandFailure`` for one that cannot be read, where those are not skipped.
    func readable<Stored, Value>(
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
    func leaveOut(_ name: String, because reason: String) throws {
        guard treatment == .skipped else {
            throw CommandFailure(.internal, "what is stored as message \(name) cannot be used: \(reason)")
        }
        let isNew = named.withLock { $0.count < Self.maxNamed && $0.insert(name).inserted }
        guard isNew else { return }
        logger.error("a stored message cannot be used and is left out", metadata: ["message": "\(name)", "error": "\(reason)"])
    }
}

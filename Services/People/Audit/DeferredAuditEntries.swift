import Logging
import Schemas
import ServiceLifecycle
import Store
import Synchronization

/// Writes audit entries after the answer, because an answer that waited for the entry would reveal by its timing that there is one.
final class DeferredAuditEntries: Service {
    /// The maximum number of waiting entries. It is reached only if the database does not answer.
    private static let maxWaiting = 200

    private let store: Storage
    private let logger: Logger
    private let waiting = Mutex<[AuditEntry]>([])
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(store: Storage, logger: Logger) {
        self.store = store
        self.logger = logger
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds an entry, which is written soon.
    func add(_ entry: AuditEntry) {
        let isAdded = waiting.withLock { waiting in
            guard waiting.count < Self.maxWaiting else { return false }
            waiting.append(entry)
            return true
        }
        if isAdded { signal.yield() } else { report("too many entries wait", entries: 1) }
    }

    /// Writes the entries. A stop waits for those that are left.
    func run() async {
        await withTaskCancellationOrGracefulShutdownHandler {
            for await _ in signals {
                // The task of the shutdown may be cancelled.
                await Task { await self.write() }.value
            }
        } onCancelOrGracefulShutdown: { [signal] in
            signal.finish()
        }
    }

    private func write() async {
        let entries = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        guard !entries.isEmpty else { return }
        do {
            try await store.transaction { try $0.appendAudit(entries) }
        } catch {
            report("\(error)", entries: entries.count)
        }
    }

    private func report(_ error: String, entries: Int) {
        logger.error(
            "entries cannot be written into the audit log", metadata: ["entries": "\(entries)", "error": "\(error)"])
    }
}

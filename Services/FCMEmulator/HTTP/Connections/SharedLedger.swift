import Synchronization

/// A connection's ledger behind a lock. The event loop and the tasks of its requests share it.
final class SharedLedger: Sendable {
    private let ledger: Mutex<ConnectionLedger>

    init(limits: ConnectionLimits) {
        ledger = Mutex(ConnectionLedger(limits: limits))
    }

    func withLock<Result: Sendable>(_ body: (inout ConnectionLedger) -> Result) -> Result {
        ledger.withLock { body(&$0) }
    }
}

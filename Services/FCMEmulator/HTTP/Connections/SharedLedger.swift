import Synchronization

/// A connection's ledger, for its event loop and for the requests that are being done elsewhere.
final class SharedLedger: Sendable {
    private let ledger: Mutex<ConnectionLedger>

    init(limits: ConnectionLimits) {
        ledger = Mutex(ConnectionLedger(limits: limits))
    }

    func withLock<Result: Sendable>(_ body: (inout ConnectionLedger) -> Result) -> Result {
        ledger.withLock { body(&$0) }
    }
}

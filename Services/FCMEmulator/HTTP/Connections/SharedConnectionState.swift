import Synchronization

/// The state of a connection behind a lock. The event loop and the tasks of its requests share it.
final class SharedConnectionState: Sendable {
    private let ledger: Mutex<ConnectionStateMachine>

    init(limits: ConnectionLimits) {
        ledger = Mutex(ConnectionStateMachine(limits: limits))
    }

    func withLock<Result: Sendable>(_ body: (inout ConnectionStateMachine) -> Result) -> Result {
        ledger.withLock { body(&$0) }
    }
}

import Synchronization

/// Counts for a test what tasks do at the same time. Closures of several tasks cannot share a `Mutex` of a function.
package final class Counter: Sendable {
    private let value = Mutex(0)

    package init() {}

    package var count: Int { value.withLock(\.self) }

    package func add() {
        value.withLock { $0 += 1 }
    }
}

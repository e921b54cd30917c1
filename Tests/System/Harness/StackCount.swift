import Glibc
import Synchronization

/// Counts the products that the tests start. Each has a line in the output of the tests, so that a new one is noticed.
enum StackCount {
    private static let count = Atomic(0)

    /// - Parameter what: What is started.
    static func started(_ what: String) {
        print("stack \(count.add(1, ordering: .relaxed).newValue): \(what)")
        fflush(nil)
    }
}

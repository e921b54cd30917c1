import Glibc
import Synchronization

/// The progress lines of a run, each with the seconds since the beginning.
package final class Journal: Sendable {
    private let begin = ContinuousClock.now

    package init() {}

    package func say(_ text: String) {
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        let tenths = Int((seconds * 10).rounded())
        let time = "\(tenths / 10).\(tenths % 10)"
        print(String(repeating: " ", count: max(0, 7 - time.count)) + time + "  " + text)
        // Flushed, so that a reader of a pipe sees the line at once.
        fflush(nil)
    }
}

extension Duration {
    /// The duration as text: `0.4 s`.
    package var inSeconds: String {
        let tenths = Int((self / .seconds(0.1)).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

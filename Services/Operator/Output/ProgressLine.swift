import Glibc
import ServiceKit
import Synchronization

/// The progress of long work, in one line of the terminal that each report replaces. Nothing is shown if standard error is no terminal.
final class ProgressLine: Sendable {
    private static let interval = Duration.milliseconds(100)

    private let isShown = isatty(STDERR_FILENO) == 1
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func show(_ text: String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        let isDue = last.withLock { last in
            if let last, now - last < Self.interval { return false }
            last = now
            return true
        }
        guard isDue else { return }
        StandardError.write(control: "\r\u{1b}[K")
        StandardError.write(text)
    }

    /// - Parameter part: From 0 to 1.
    func show(_ text: String, _ part: Double) {
        show("\(text): \(Int(part * 100)) %")
    }

    /// Removes the line, for the text that follows.
    func clear() {
        guard isShown, last.withLock({ $0 }) != nil else { return }
        StandardError.write(control: "\r\u{1b}[K")
    }
}

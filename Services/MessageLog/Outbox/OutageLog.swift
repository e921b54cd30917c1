import Logging
import Synchronization

/// Logs one line when something begins to fail, and one when it works again. Failures in between are logged at `debug`.
final class OutageLog: Sendable {
    private let what: Logger.Message
    private let logger: Logger
    /// The failing subjects.
    private let failing = Mutex<Set<String>>([])

    /// - Parameter what: The failure as a log message, such as "due messages cannot be claimed".
    init(_ what: Logger.Message, logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// Whether anything is failing.
    var isOngoing: Bool { failing.withLock { !$0.isEmpty } }

    /// - Parameter subject: The subject, if there are several that can fail independently. The outage is over when none fails.
    func failed(_ error: any Error, of subject: String = "") {
        let isNew = failing.withLock { failing in
            defer { failing.insert(subject) }
            return failing.isEmpty
        }
        logger.log(level: isNew ? .warning : .debug, what, metadata: ["error": "\(error)"])
    }

    func worked(of subject: @autoclosure () -> String = "") {
        let isOver = failing.withLock { failing in
            guard !failing.isEmpty else { return false }
            failing.remove(subject())
            return failing.isEmpty
        }
        if isOver { logger.notice("over: \(what)") }
    }
}

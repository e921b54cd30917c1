import Logging
import Synchronization

/// Logs one line when something begins to fail, and one when it works again, however often it fails in between.
final class OutageLog: Sendable {
    private let what: Logger.Message
    private let logger: Logger
    /// What fails at present.
    private let failing = Mutex<Set<String>>([])

    /// - Parameter what: What does not work, such as "due messages cannot be claimed".
    init(_ what: Logger.Message, logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// Whether it fails at present.
    var isOngoing: Bool { failing.withLock { !$0.isEmpty } }

    /// - Parameter subject: Which of several, where some may work while others fail. The outage is over when none fails.
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

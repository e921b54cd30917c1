package import Logging
import Synchronization

/// Logs one line when something begins to fail, and one when it works again. Failures in between are logged at `debug`.
package final class OutageLog: Sendable {
    private struct State {
        /// The failing subjects.
        var failing: Set<String> = []
        /// Whether the log says that something fails.
        var isLogged = false
    }

    private let what: Logger.Message
    private let logger: Logger
    private let isLoggedElsewhere: @Sendable (any Error) -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - what: The failure as a log message, such as "due messages cannot be claimed".
    ///   - isLoggedElsewhere: Whether another line tells the operator of this error. It is logged at `debug` only.
    package init(
        _ what: Logger.Message, logger: Logger, isLoggedElsewhere: @escaping @Sendable (any Error) -> Bool = { _ in false }
    ) {
        self.what = what
        self.logger = logger
        self.isLoggedElsewhere = isLoggedElsewhere
    }

    /// Whether anything is failing.
    package var isOngoing: Bool { state.withLock { !$0.failing.isEmpty } }

    /// - Parameter subject: The subject, if there are several that can fail independently. The outage is over when none fails.
    package func failed(_ error: any Error, of subject: String = "") {
        let isKnown = isLoggedElsewhere(error)
        let isNew = state.withLock { state in
            state.failing.insert(subject)
            guard !state.isLogged, !isKnown else { return false }
            state.isLogged = true
            return true
        }
        logger.log(level: isNew ? .warning : .debug, what, metadata: ["error": "\(error)"])
    }

    package func worked(of subject: @autoclosure () -> String = "") {
        let isOver = state.withLock { state in
            guard !state.failing.isEmpty else { return false }
            state.failing.remove(subject())
            guard state.failing.isEmpty else { return false }
            defer { state.isLogged = false }
            return state.isLogged
        }
        if isOver { logger.notice("over: \(what)") }
    }
}

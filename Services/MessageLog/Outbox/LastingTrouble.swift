import Logging
import Synchronization

/// Something that fails again and again for as long as its cause lasts: the log says so once, and once more when it is over.
final class LastingTrouble: Sendable {
    private let complaint: Logger.Message
    private let logger: Logger
    private let isKnown = Mutex(false)

    /// - Parameter complaint: What does not work.
    init(_ complaint: Logger.Message, logger: Logger) {
        self.complaint = complaint
        self.logger = logger
    }

    func failed(_ error: any Error) {
        let isNew = isKnown.withLock { isKnown in
            defer { isKnown = true }
            return !isKnown
        }
        logger.log(level: isNew ? .warning : .debug, complaint, metadata: ["error": "\(error)"])
    }

    func worked() {
        let isOver = isKnown.withLock { isKnown in
            defer { isKnown = false }
            return isKnown
        }
        if isOver { logger.notice("over: \(complaint)") }
    }
}

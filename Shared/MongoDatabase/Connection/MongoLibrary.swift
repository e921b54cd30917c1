import CMongoC
import CMongoLoading
import Glibc
import Logging
import Synchronization

/// The process-wide state of libmongoc.
enum MongoLibrary {
    /// The warnings that a thread collects while it parses a connection string.
    private struct Collection {
        let thread: pthread_t
        var warnings: [String] = []
    }

    private static let collections = Mutex<[Collection]>([])
    private static let logger = Mutex<Logger?>(nil)

    /// Runs before the first call of libmongoc.
    private static let isReady: Bool = {
        mongoc_init()
        mongoc_log_set_handler(receiveLogLine, nil)
        return true
    }()

    /// Redirects libmongoc's log lines to the service's log at `debug`. Important ones also come as errors.
    static func start(logger: Logger) {
        _ = isReady
        self.logger.withLock { $0 = logger }
        let line = String(cString: msi_mongoc_loading_line())
        if !line.isEmpty { logger.debug("libmongoc, while it was loaded", metadata: ["says": "\(line)"]) }
    }

    /// Runs a function of libmongoc, and returns the warnings that it logged.
    static func collectingWarnings<Value>(_ body: () -> Value) -> (Value, warnings: [String]) {
        _ = isReady
        let thread = pthread_self()
        collections.withLock { $0.append(Collection(thread: thread)) }
        let value = body()
        let warnings = collections.withLock { collections in
            guard let index = collections.lastIndex(where: { pthread_equal($0.thread, thread) != 0 }) else { return [String]() }
            return collections.remove(at: index).warnings
        }
        return (value, warnings)
    }

    fileprivate static func receive(_ level: mongoc_log_level_t, _ message: String) {
        let thread = pthread_self()
        let isCollected = collections.withLock { collections in
            guard let index = collections.lastIndex(where: { pthread_equal($0.thread, thread) != 0 }) else { return false }
            if level.rawValue <= MONGOC_LOG_LEVEL_WARNING.rawValue { collections[index].warnings.append(message) }
            return true
        }
        guard !isCollected else { return }
        logger.withLock { $0?.debug("libmongoc", metadata: ["says": "\(message)"]) }
    }
}

/// A free function, so that the C callback has no actor isolation.
private func receiveLogLine(
    _ level: mongoc_log_level_t, _ domain: UnsafePointer<CChar>?, _ message: UnsafePointer<CChar>?,
    _ context: UnsafeMutableRawPointer?
) {
    guard let message else { return }
    MongoLibrary.receive(level, String(cString: message))
}

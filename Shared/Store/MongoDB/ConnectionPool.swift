import CMongoC
import CMongoLoading
import Glibc
import Logging
import Synchronization

/// libmongoc's pool of clients. It is made on first use, because resolving a `mongodb+srv` address needs the DNS.
///
/// Any thread may use the pool. Only one thread at a time may use a client.
final class ConnectionPool: Sendable {
    /// libmongoc's pool; the lock around it is the memory barrier.
    private struct Handle: @unchecked Sendable {
        let pool: OpaquePointer
    }

    private let url: MongoURL
    private let application: String
    private let maxConnections: Int
    private let socketTimeout: Duration
    /// Learns the outcome of each write.
    private let writes: WriteHealth
    private let handle = Mutex<Handle?>(nil)

    /// - Parameter socketTimeout: The maximum time for an answer of the server.
    init(url: MongoURL, application: String, maxConnections: Int, socketTimeout: Duration, writes: WriteHealth) {
        self.url = url
        self.application = application
        self.maxConnections = maxConnections
        self.socketTimeout = socketTimeout
        self.writes = writes
    }

    deinit {
        assert(handle.withLock { $0 == nil }, "a pool of connections must be closed")
    }

    /// Runs an operation with a connection that no other operation shares. It blocks.
    func withConnection<Value>(_ body: (MongoConnection) throws -> Value) throws -> Value {
        let pool = try pool()
        // There are not more threads than clients, so this does not wait.
        guard let client = mongoc_client_pool_pop(pool) else {
            throw MongoError(.other, "libmongoc hands out no client")
        }
        defer { mongoc_client_pool_push(pool, client) }
        return try body(MongoConnection(client: client, url: url, socketTimeout: socketTimeout, writes: writes))
    }

    /// Closes all connections. None may be in use.
    func close() {
        handle.withLock { handle in
            if let pool = handle?.pool { mongoc_client_pool_destroy(pool) }
            handle = nil
        }
    }

    private func pool() throws(MongoError) -> OpaquePointer {
        try handle.withLock { handle throws(MongoError) in
            if let handle { return handle.pool }
            let uri = url.makeURI(application: application, socketTimeout: socketTimeout)
            defer { mongoc_uri_destroy(uri) }
            var error = bson_error_t()
            guard let pool = mongoc_client_pool_new_with_error(uri, &error) else {
                throw MongoError(.notReachable, MongoError(error).message, meansUnreachable: true)
            }
            mongoc_client_pool_set_error_api(pool, MONGOC_ERROR_API_VERSION_2)
            mongoc_client_pool_max_size(pool, UInt32(maxConnections))
            handle = Handle(pool: pool)
            return pool
        }
    }
}

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

/// The shared memory file with counters that libmongoc creates when it is loaded, even if MongoDB is not used. It is for a tool
/// that the product does not use.
package enum CounterSegment {
    /// Removes the file's name; the mapping stays. Otherwise a killed process would leave the file behind, and libmongoc in a
    /// later process with the same id would complain about it.
    package static func unlink() {
        // The file does not exist if the system has no shared memory, or if libmongoc's counters are off.
        _ = shm_unlink("/mongoc-\(getpid())")
    }
}

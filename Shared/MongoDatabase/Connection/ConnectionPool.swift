import CMongoC
import StoreHealth
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
    /// Learns what writes come to.
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

    /// Runs an operation with a connection that no other operation uses meanwhile. It blocks.
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

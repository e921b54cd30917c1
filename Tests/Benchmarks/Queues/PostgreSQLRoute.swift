import ArgumentParser
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// A bare Hummingbird server whose route `POST /message` inserts the body into PostgreSQL's table, and answers with 201 after the commit.
///
/// Each connection of the pool has a thread, and is one transaction at a time. PostgreSQL syncs the commits of several at once.
struct PostgreSQLRoute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "postgresql-route", shouldDisplay: false)

    private static let maxBodyBytes = 64 << 10

    @Argument(help: "The connection string.")
    var database: String

    @Argument(help: "The number of connections.")
    var connections: Int

    func run() async throws {
        let inserter = try MessageInserter(database, connections: connections)
        let router = Router()
        router.post("/message") { request, _ -> Response in
            let body = try await request.body.collect(upTo: Self.maxBodyBytes)
            let key = try await inserter.insert(Array(body.readableBytesView))
            return Response(
                status: .created, headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"msi_key":"\#(key)"}"#)))
        }
        var logger = Logger(label: "benchmark")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: nil, backlog: 1_024),
            onServerRunning: { say("\($0.localAddress?.port ?? 0)") }, logger: logger)
        try await application.runService()
        try await inserter.close()
    }
}

/// The connections that insert.
private struct MessageInserter: Sendable {
    private static let statement = "insertion"

    private let threads: NIOThreadPool
    private let free: FreeConnections

    /// The connections that no thread uses.
    private final class FreeConnections: Sendable {
        let list: Mutex<[PostgreSQLConnection]>

        init(_ connections: [PostgreSQLConnection]) {
            list = Mutex(connections)
        }
    }

    init(_ database: String, connections: Int) throws {
        free = FreeConnections(
            try (0..<connections).map { _ in
                let connection = try PostgreSQLConnection(database)
                // As wide as a key of the product.
                try connection.prepare(
                    Self.statement, "INSERT INTO queue (body) VALUES ($1) RETURNING lpad(id::text, 24, '0')")
                return connection
            })
        threads = NIOThreadPool(numberOfThreads: connections)
        threads.start()
    }

    func close() async throws {
        try await threads.shutdownGracefully()
    }

    /// - Returns: The message's key.
    func insert(_ body: [UInt8]) async throws -> String {
        try await threads.runIfActive { [free] in
            // There are as many as threads.
            guard let connection = free.list.withLock({ $0.popLast() }) else {
                throw PeerFailure(description: "no connection is free")
            }
            defer { free.list.withLock { $0.append(connection) } }
            return try connection.execute(prepared: Self.statement, body)
        }
    }
}

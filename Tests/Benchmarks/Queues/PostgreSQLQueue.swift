import FoundationEssentials
import Glibc
import NIOPosix
import Synchronization
import TestSupport

/// PostgreSQL with a queue in a table, behind a bare Hummingbird route. It syncs each commit, as by default.
///
/// The consumer takes up to 256 messages in one transaction with `SKIP LOCKED`. The transaction's end acknowledges them.
struct PostgreSQLQueue: DurableQueue {
    /// Debian 12's.
    private static let programs = "/usr/lib/postgresql/15/bin"
    private static let port = 5_432

    let name = "PostgreSQL"
    let syncLogs: [SyncLog]
    private let server: PeerServer
    private let route: ChildProcess
    private let consumer: PostgreSQLConsumer
    private let posts: QueuePosts

    var processorTime: Double {
        get throws { server.processorTime + ProcessTree.processorTime(of: route.identifier) }
    }

    func run(inFlight: Int, seconds: Double) async throws -> QueueRun {
        let before = consumer.consumed
        return try await posts.run(inFlight: inFlight, seconds: seconds) { messages in
            try await eventually("PostgreSQL's messages are consumed", every: .milliseconds(5)) {
                try consumer.check()
                return consumer.consumed >= before + messages
            }
        }
    }

    /// Runs a body with a new server.
    ///
    /// - Parameters:
    ///   - posts: The messages, as posts to another server.
    ///   - connections: The number of the route's connections to PostgreSQL.
    ///   - isTraced: Whether its syncs are counted.
    ///   - folder: The path of a new folder on a disk.
    static func with<Value>(
        _ posts: QueuePosts, connections: Int, isTraced: Bool, in folder: String,
        _ body: (PostgreSQLQueue) async throws -> Value
    ) async throws -> Value {
        try PeerServer.makeFolder(folder)
        let tracer = isTraced ? SyncLog(file: folder + ".syncs") : nil
        let data = folder + "/data"
        try await PeerServer.run(
            [
                programs + "/initdb", "--pgdata", data, "--auth=trust", "--username=benchmark", "--encoding=UTF8", "--locale=C",
            ], in: folder)
        let server = try await PeerServer(
            [
                programs + "/postgres", "-D", data, "-k", folder, "-p", "\(port)", "-c", "listen_addresses=", "-c", "fsync=on",
                "-c", "synchronous_commit=on", "-c", "max_connections=\(connections + 10)",
            ], end: .interrupt, tracer: tracer, in: folder)
        return try await perform {
            try await server.process.waitForLog { $0.contains("ready to accept connections") ? () : nil }
            let database = "host=\(folder) port=\(port) user=benchmark dbname=postgres"
            return try await withRoute(to: database, connections: connections, in: folder) { route, port in
                let consumer = try PostgreSQLConsumer.start(on: database)
                return try await perform {
                    let driver = GatewayDriver(
                        port: port, token: posts.driver.token, peers: posts.driver.peers, folder: folder)
                    return try await body(
                        PostgreSQLQueue(
                            syncLogs: tracer.map { [$0] } ?? [], server: server, route: route, consumer: consumer,
                            posts: QueuePosts(driver: driver, subjects: posts.subjects)))
                } finally: {
                    try await consumer.stop()
                }
            }
        } finally: {
            try await server.stop()
        }
    }

    /// - Parameter body: Gets the route's process and its port.
    private static func withRoute<Value>(
        to database: String, connections: Int, in folder: String, _ body: (ChildProcess, Int) async throws -> Value
    ) async throws -> Value {
        try PostgreSQLConnection(database).execute(
            "CREATE TABLE queue (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL)")
        let route = try await ChildProcess(
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath(), ["postgresql-route", database, "\(connections)"],
            environment: ProcessInfo.processInfo.environment, logFile: folder + "/route.log")
        return try await perform {
            let port = try await route.waitForLog { $0.split(separator: "\n").first.flatMap { Int($0) } }
            return try await body(route, port)
        } finally: {
            await route.stop()
        }
    }
}

/// A consumer of the queue, with a thread and a connection.
private final class PostgreSQLConsumer: Sendable {
    private static let batch = 256
    /// The pause after fewer messages than a batch. Without it there would be a transaction for each few messages.
    private static let pause: UInt32 = 10_000

    private let connection: PostgreSQLConnection
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let count = Atomic(0)
    private let isStopped = Atomic(false)
    private let failure = Mutex<(any Error)?>(nil)

    private init(_ connection: PostgreSQLConnection) {
        self.connection = connection
    }

    static func start(on database: String) throws -> PostgreSQLConsumer {
        let consumer = PostgreSQLConsumer(try PostgreSQLConnection(database))
        consumer.start()
        return consumer
    }

    private func start() {
        thread.start()
        thread.submit { [self] _ in
            do {
                while !isStopped.load(ordering: .relaxed) { try consume() }
            } catch {
                failure.withLock { $0 = error }
            }
        }
    }

    /// The number of messages that are acknowledged.
    var consumed: Int { count.load(ordering: .relaxed) }

    /// - Throws: The error that has ended it.
    func check() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    func stop() async throws {
        isStopped.store(true, ordering: .relaxed)
        try await thread.shutdownGracefully()
    }

    private func consume() throws {
        try connection.execute("BEGIN")
        let messages = try connection.execute(
            "DELETE FROM queue WHERE id IN (SELECT id FROM queue ORDER BY id LIMIT \(Self.batch) FOR UPDATE SKIP LOCKED) "
                + "RETURNING body")
        try connection.execute("COMMIT")
        count.add(messages, ordering: .relaxed)
        if messages < Self.batch { usleep(Self.pause) }
    }
}

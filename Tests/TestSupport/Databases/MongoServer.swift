import Glibc
import Schemas
import Synchronization
import Testing

/// A server with MongoDB's protocol on a free loopback port. It is a process that can be killed and restarted.
///
/// It is SecantusDB, which supports everything that the tests need. Its URLs contain `retryWrites=false`, because its retryable
/// writes are slow.
package final class MongoServer: Sendable {
    private let folder: String
    private let flags: [String]
    private let child: Mutex<ChildProcess>
    package let port: Int

    private init(folder: String, flags: [String], child: ChildProcess, port: Int) {
        self.folder = folder
        self.flags = flags
        self.child = Mutex(child)
        self.port = port
    }

    /// Starts a server and waits until it listens.
    ///
    /// - Parameters:
    ///   - folder: The folder of its log, and of its files if `isPersistent` is true.
    ///   - flags: Further flags, such as `--auth`.
    package static func start(
        in folder: String, port: Int = 0, flags: [String] = [], isPersistent: Bool = true
    ) async throws -> MongoServer {
        let flags = flags + ["--storage-path", isPersistent ? folder + "/mongodb" : ":memory:"]
        let (child, port) = try await launch(in: folder, port: port, flags: flags)
        return MongoServer(folder: folder, flags: flags, child: child, port: port)
    }

    /// A shared server for tests that do not disturb it. Each test uses its own database.
    package static var shared: MongoServer {
        get async throws { try await sharedServer.value }
    }

    /// It ends with the test process, and removes its files.
    private static let sharedServer = Task {
        try await withTemporaryFolder { try await start(in: $0, isPersistent: false) }
    }

    private static func launch(in folder: String, port: Int, flags: [String]) async throws -> (ChildProcess, port: Int) {
        let arguments = ["--host", "127.0.0.1", "--port", String(port), "--sync-on-commit"] + flags
        let child = try await PythonScript.start(
            "mongodb_server.py", arguments, logFile: "\(folder)/mongodb-\(UInt32.random(in: 0...UInt32.max)).log")
        let listening = try await child.waitForLog { $0.firstMatch(of: /listening on 127\.0\.0\.1:(\d+)/)?.1 }
        return (child, Int(listening) ?? 0)
    }

    package var identifier: Int32 { current.identifier }

    /// A connection string.
    ///
    /// - Parameters:
    ///   - database: The database's name; by default an unused one.
    ///   - user: `name:password`.
    ///   - options: Further options, such as `tls=true`.
    package func url(database: String = "test\(ObjectID())", user: String? = nil, options: [String] = []) -> String {
        let options = ["retryWrites=false"] + options
        return "mongodb://\(user.map { $0 + "@" } ?? "")127.0.0.1:\(port)/\(database)?\(options.joined(separator: "&"))"
    }

    package func kill() async {
        await current.kill()
    }

    /// Stops it gracefully.
    package func stop() async {
        await current.stop()
    }

    /// Freezes it until ``thaw()``. Returns once all of its threads are stopped.
    package func freeze() async throws {
        current.signal(SIGSTOP)
        try await eventually { try current.hasStopped }
    }

    package func thaw() {
        current.signal(SIGCONT)
    }

    /// Restarts it on the same port with the same files.
    ///
    /// - Parameter flags: Replaces the additional flags it was started with.
    package func restart(flags: [String]? = nil) async throws {
        let flags = flags.map { $0 + self.flags.suffix(2) } ?? self.flags
        let (child, _) = try await Self.launch(in: folder, port: port, flags: flags)
        self.child.withLock { $0 = child }
    }

    private var current: ChildProcess { child.withLock { $0 } }
}

/// Runs a test with a new database server.
package func withMongoServer<Result>(
    flags: [String] = [], isolation: isolated (any Actor)? = #isolation, _ body: (MongoServer) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { try await withMongoServer(in: $0, flags: flags, body) }
}

/// Runs a test with a database server that accepts only TLS.
///
/// - Parameter body: Gets the server and the file of the trusted certificate.
package func withTLSMongoServer<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (MongoServer, String) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        let files = (certificate: folder + "/ca.pem", key: folder + "/key.pem")
        try TestCertificate().write(certificateFile: files.certificate, keyFile: files.key)
        let flags = ["--tls-cert-file", files.certificate, "--tls-key-file", files.key]
        return try await withMongoServer(in: folder, flags: flags) { try await body($0, files.certificate) }
    }
}

private func withMongoServer<Result>(
    in folder: String, flags: [String], isolation: isolated (any Actor)? = #isolation,
    _ body: (MongoServer) async throws -> Result
) async throws -> Result {
    // The test may restart it.
    let server = try await MongoServer.start(in: folder, port: FreePort.choose(), flags: flags)
    return try await perform {
        try await body(server)
    } finally: {
        await server.kill()
    }
}

/// The databases of a store. A test runs for each of them.
package enum StoreKind: String, CaseIterable, Sendable {
    case sqlite, mongodb

    /// The databases of tests of a service's rules, which use no database in a way of their own: all of them at length, and files in level
    /// one. What differs between the databases is in the tests of the stores and of what happens at the same moment, which use
    /// ``allCases``.
    package static let ofRules: [StoreKind] = Level.isAll ? allCases : [.sqlite]

    /// The connection string of an unused database; `nil` for a file.
    package func newDatabaseURL() async throws -> String? {
        switch self {
        case .sqlite: nil
        // On a busy machine the server may need long for an answer.
        case .mongodb: try await MongoServer.shared.url(options: ["socketTimeoutMS=60000"])
        }
    }
}

import Base
import HTTPRouting
import Hummingbird
import Logging
import NIOCore
import ServiceKit
import ServiceLifecycle

/// Wires the emulator together: the keys and the people in its folder, and one HTTP port for all providers.
struct Emulator: Sendable {
    /// Serves requests until it is told to stop.
    let server: any Service
    private let ports: AsyncStream<Int>

    /// Opens the folder of earlier starts, or makes it.
    ///
    /// - Parameter port: On 127.0.0.1; 0 for any free one.
    /// - Throws: ``StateFileError``, or `DurableFileFailure` if the folder cannot be made.
    init(folder: String, port: Int, logger: Logger) throws {
        try DurableFiles.makeFolder(folder)
        let keys = try SigningKeys(file: folder + "/keys.json")
        let people = try People(file: folder + "/people.json")
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        self.ports = ports
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let application = Application(
            router: Self.router(keys, people), server: .http1Connections,
            configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: nil),
            onServerRunning: { channel in
                continuation.yield(channel.localAddress?.port ?? port)
                continuation.finish()
            },
            logger: quiet)
        server = ListeningService(application, scheme: "http", port: port, of: .identityEmulatorPort)
    }

    /// Waits until the server listens. Call it once.
    ///
    /// - Throws: `CancellationError` if it never does.
    func listeningPort() async throws -> Int {
        for await port in ports { return port }
        throw CancellationError()
    }

    private static func router(_ keys: SigningKeys, _ people: People) -> Router<EmulatorRequestContext> {
        let router = Router(context: EmulatorRequestContext.self)
        router.add(middleware: StorageFailures())
        let traffic = Traffic()
        StartRoutes(people: people).add(to: router)
        SignInRoutes(keys: keys, people: people).add(to: router)
        GoogleRoutes(keys: keys, traffic: traffic).add(to: router)
        FirebaseRoutes(keys: keys, traffic: traffic).add(to: router)
        FacebookRoutes(people: people, traffic: traffic).add(to: router)
        ControlRoutes(keys: keys, people: people, traffic: traffic).add(to: router)
        return router
    }
}

/// A file of the emulator's folder that it cannot use. It is not replaced: tokens and people of earlier starts would be gone.
struct StateFileError: Error, Hashable, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String {
        "\(path): \(problem). Restore the file, or remove it to start with new content"
    }
}

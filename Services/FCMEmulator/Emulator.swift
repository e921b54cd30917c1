import FoundationEssentials
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Wires the emulator together: the key and certificates on disk, the store, and one HTTPS port for all APIs.
struct Emulator: Sendable {
    /// Serves requests until it is told to stop.
    let server: any Service
    let account: ServiceAccount
    private let store: EmulatorStore
    private let listening: ListeningPort

    /// Opens the state folder of earlier starts, or creates it.
    ///
    /// - Parameters:
    ///   - folder: The state folder.
    ///   - port: On 127.0.0.1; 0 for any free one.
    ///   - topicPayloadLimit: The maximum size of a message to a topic, in bytes.
    ///   - behaviour: How it treats its clients.
    /// - Throws: ``StateFileError``, or `CommandFailure` if the database cannot be opened.
    init(folder path: String, port: Int, topicPayloadLimit: Int, behaviour: Behaviour, logger: Logger) async throws {
        let folder = try StateFolder(path: path)
        let authority = try CertificateAuthority(in: folder, now: Date())
        let account = try ServiceAccount(in: folder)
        let tokens = try AccessTokens(in: folder)
        let store = try EmulatorStore(path: folder.path(of: "emulator.sqlite"))
        let listening = ListeningPort()
        let router = Self.router(
            account: account, tokens: tokens, issuer: try await TokenIssuer(account: account, tokens: tokens),
            topicPayloadLimit: topicPayloadLimit, behaviour: behaviour, store: store)
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let tls = try authority.serverTLS(now: Date())
        let application = Application(
            router: router,
            server: HTTPServerBuilder { responder in
                BoundedConnections(
                    base: try FrontEnd(tls: tls, limits: { behaviour.connections.withLock { $0 } }, responder: responder))
            },
            configuration: .init(address: .hostname("127.0.0.1", port: port), backlog: 1_024),
            onServerRunning: { channel in listening.set(channel.localAddress?.port ?? port) },
            logger: quiet)
        server = ListeningService(application, scheme: "https", port: port, of: .fcmEmulatorPort)
        self.account = account
        self.store = store
        self.listening = listening
    }

    /// Waits until the port is open, then writes the service account's file with that port.
    ///
    /// - Returns: The port.
    /// - Throws: ``StateFileError``.
    func announce() async throws -> Int {
        let port = try await listening.value()
        try account.listen(on: port)
        return port
    }

    func close() throws {
        try store.close()
    }

    private static func router(
        account: ServiceAccount, tokens: AccessTokens, issuer: TokenIssuer, topicPayloadLimit: Int, behaviour: Behaviour,
        store: EmulatorStore
    ) -> Router<EmulatorRequestContext> {
        let router = Router(context: EmulatorRequestContext.self)
        router.add(middleware: HeadAnswers())
        router.add(middleware: AuthorityCheck())
        router.add(middleware: ErrorMiddleware())
        let authorization = Authorization(tokens: tokens, rules: behaviour.oauth)
        let streams = OpenStreams()
        let faults = FaultInjector(plan: behaviour.faults)
        TokenRoute(issuer: issuer, rules: behaviour.oauth, faults: faults).add(to: router)
        let answers = AnswerCounts()
        let processor = SendProcessor(
            quotas: behaviour.quotas, fanOuts: behaviour.fanOuts, archive: behaviour.archive, answers: answers, store: store,
            streams: streams)
        let project = ProjectPath(id: account.projectID, number: ServiceAccount.projectNumber)
        SendRoute(
            authorization: authorization, project: project, topicPayloadLimit: topicPayloadLimit, faults: faults,
            processor: processor
        ).add(to: router)
        InstanceIDRoutes(authorization: authorization, faults: faults, store: store, streams: streams).add(to: router)
        SubscriptionRoutes(
            authorization: authorization, project: project, faults: faults, store: store, streams: streams
        ).add(to: router)
        PhoneRoutes(
            sender: ServiceAccount.projectNumber, rules: behaviour.platforms, fanOuts: behaviour.fanOuts, store: store,
            streams: streams
        ).add(to: router)
        ArchiveRoutes(archive: behaviour.archive, store: store, streams: streams).add(to: router)
        CountRoutes(store: store, answers: answers, platforms: behaviour.platforms).add(to: router)
        ControlRoutes(behaviour: behaviour).add(to: router)
        return router
    }
}

extension CertificateAuthority {
    /// TLS with a certificate that is issued for this run and never stored on disk.
    fileprivate func serverTLS(now: Date) throws -> TLSConfiguration {
        let issued = try issueServerCertificate(now: now)
        return .makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(issued.certificate.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(issued.key.utf8), format: .pem)))
    }
}

/// The port that the server listens on, which is known only after it has bound its socket.
final class ListeningPort: Sendable {
    private let ports: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() {
        (ports, continuation) = AsyncStream.makeStream()
    }

    func set(_ port: Int) {
        continuation.yield(port)
        continuation.finish()
    }

    /// Waits for the port. Call it once.
    ///
    /// - Throws: `CancellationError` if the server never listens.
    func value() async throws -> Int {
        for await port in ports { return port }
        throw CancellationError()
    }
}

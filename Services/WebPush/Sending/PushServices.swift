import HTTPTransport
import Logging
import Schemas
import Synchronization

/// The push services of all subscriptions.
final class PushServices: PushSender {
    /// A single request to a push service.
    static let requestTimeout = Duration.seconds(10)
    /// How long a request that has not reached its service is repeated.
    static let reconnectTimeout = Duration.seconds(2)

    private struct State {
        var services: [String: PushService] = [:]
        var isStopped = false
    }

    /// When there are this many services, those that nothing is known about are forgotten. Some makers have a host for each group of
    /// phones, and strangers may invent some.
    private static let maxServices = 1_000

    private let transport: any HTTPTransport
    private let logger: Logger
    private let now: @Sendable () -> UnixMilliseconds
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: It is closed by ``close()``.
    ///   - now: The wall clock, for a Retry-After that is a date.
    init(transport: any HTTPTransport, logger: Logger, now: @escaping @Sendable () -> UnixMilliseconds = { .now }) {
        self.transport = transport
        self.logger = logger
        self.now = now
    }

    /// - Parameter certificateAuthorityFile: PEM certificates to trust instead of the system's.
    /// - Throws: ``TransportError`` if libcurl or the system has no resources.
    convenience init(certificateAuthorityFile: String?, logger: Logger) throws(TransportError) {
        self.init(transport: try CurlTransport(.webPush(trusting: certificateAuthorityFile)), logger: logger)
    }

    func send(_ requests: [WebPushRequest], by deadline: ContinuousClock.Instant) async -> [Result<String, WebPushFailure>] {
        let groups = Dictionary(grouping: requests.enumerated().map { (index: $0, request: $1) }, by: \.request.origin)
        let outcomes = await withTaskGroup(of: [PushService.Outcome].self) { tasks in
            for (origin, group) in groups {
                let service = service(of: origin)
                tasks.addTask { await service.send(group, by: deadline, isBesideOthers: groups.count > 1) }
            }
            var outcomes: [PushService.Outcome] = []
            for await part in tasks { outcomes += part }
            return outcomes
        }
        return outcomes.sorted { $0.index < $1.index }.map(\.result)
    }

    private func service(of origin: String) -> PushService {
        state.withLock { state in
            if let service = state.services[origin] { return service }
            if state.services.count >= Self.maxServices { state.services = state.services.filter { !$0.value.isIdle } }
            let service = PushService(origin: origin, transport: transport, logger: logger, now: now)
            if state.isStopped { service.stop() }
            state.services[origin] = service
            return service
        }
    }

    private var services: [PushService] { state.withLock { Array($0.services.values) } }

    /// The state of each push service that was used, in the order of the origins.
    var states: [PushServiceStatus] { services.map(\.status).sorted { $0.origin < $1.origin } }

    /// Fails all waiting pushes, and every later one, with a retryable error. Pending requests continue.
    func stopSending() {
        state.withLock { $0.isStopped = true }
        for service in services { service.stop() }
        transport.refuseNewRequests()
    }

    /// Fails all waiting and pending pushes with a retryable error, and closes the connections.
    func close() async {
        stopSending()
        await transport.close()
    }
}

extension CurlConfiguration {
    /// The settings for push services.
    ///
    /// - Parameter certificateAuthorityFile: PEM certificates to trust instead of the system's.
    static func webPush(trusting certificateAuthorityFile: String?) -> CurlConfiguration {
        var configuration = CurlConfiguration(
            userAgent: "msi-webpush", requestTimeout: PushServices.requestTimeout,
            certificateAuthorityFile: certificateAuthorityFile)
        configuration.hasManyHosts = true
        // Enough for several services at their full pace, even if one of them has no HTTP/2.
        configuration.connectionsPerHost = 20
        configuration.otherConnections = 64
        configuration.silenceTimeout = .seconds(5)
        // An answer is empty, or has an error in a few words.
        configuration.maxBodyBytes = 65_536
        return configuration
    }
}

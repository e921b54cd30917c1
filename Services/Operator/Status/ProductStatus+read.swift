import Bus
import Schemas
import ServiceKit
import Base

extension ProductStatus {
    /// How long the gateway may take for each answer.
    private static let timeout = Duration.seconds(5)

    /// Asks the gateway. If it refuses the token, it is asked only for what everyone may read.
    ///
    /// - Throws: ``GatewayFailure`` if it does not answer `GET /health`, or ``ConfigurationError``.
    static func read(from gateway: GatewayClient, _ settings: SettingValues) async throws -> ProductStatus {
        let time = UnixMilliseconds.now
        do {
            return try await readAll(from: gateway, settings, at: time)
        } catch let refusal as GatewayFailure where refusal.kind == .notAllowed {
            let health = try await askForHealth(gateway.withoutToken)
            let reason = "the token is refused: \(refusal) \(advice(settings))"
            return ProductStatus(
                gateway: gateway.url, health: health, places: try places(settings, health),
                canary: isCanarySetUp(settings) ? .unknown(problem: "the token is refused") : .notSetUp,
                messages: .failure(GatewayFailure(refusal.kind, reason)), token: .refused,
                webPush: await WebPushState.read(settings, health), study: await StudyState.read(settings, health), at: time)
        }
    }

    /// What helps if the token is refused, or may not read. A new operator's token would not be used while the settings give another
    /// one, and would end the present one.
    static func advice(_ settings: SettingValues) -> String {
        let name = Setting.token.declaration.name
        guard (try? settings.optional(.token)) != nil else { return "msi account token makes a new one" }
        let file = settings.secretFiles.first { $0.setting.name == Setting.token.declaration.file?.name }
        return "It comes from \(file.map { "\($0.setting.name)=\($0.path)" } ?? name): put a valid one there, or unset it"
    }

    /// Makes all requests concurrently.
    private static func readAll(
        from gateway: GatewayClient, _ settings: SettingValues, at time: UnixMilliseconds
    ) async throws -> ProductStatus {
        async let answeredSession = askForSession(gateway)
        async let counts = askForCounts(gateway, at: time)
        async let answeredCanary = askForCanary(gateway, settings)
        let health = try await askForHealth(gateway)
        async let answeredStudy = StudyState.read(settings, health)
        let webPush = await WebPushState.read(settings, health)
        let session = await answeredSession
        let messages = await counts.map { logged, ended in
            Messages(logged: logged, ended: ended, isLimited: session.map { !$0.seesAll } ?? false, now: time)
        }
        return ProductStatus(
            gateway: gateway.url, health: health, places: try places(settings, health),
            canary: canary(await answeredCanary, seenBy: session, settings), messages: messages,
            token: gateway.hasToken ? .usable : .missing, webPush: webPush, study: await answeredStudy, at: time)
    }

    /// - Throws: ``GatewayFailure``. It names the gateway's URL, unless the token is refused.
    private static func askForHealth(_ gateway: GatewayClient) async throws -> Health {
        do {
            return try await gateway.getOnce("/health", alsoAt: [503], within: timeout)
        } catch let failure as GatewayFailure where failure.kind == .notAllowed {
            // Everyone may read it.
            guard gateway.hasToken else {
                throw GatewayFailure(.refused, "\(gateway.url) does not answer as a gateway: it requires a token for GET /health")
            }
            throw failure
        } catch let failure as GatewayFailure where !failure.description.contains(gateway.url) {
            throw GatewayFailure(failure.kind, "\(gateway.url) does not answer as a gateway: \(failure)")
        }
    }

    /// - Returns: `nil` if it is not known.
    private static func askForSession(_ gateway: GatewayClient) async -> TokenSession? {
        try? await gateway.getOnce("/session", within: timeout)
    }

    /// The statistics with one span, the last minute, by the time when messages were logged, and by the time when they ended.
    private static func askForCounts(
        _ gateway: GatewayClient, at now: UnixMilliseconds
    ) async -> Result<(logged: Statistics, ended: Statistics), GatewayFailure> {
        let span = "edges=\(now.rawValue - 60_000),\(now.rawValue)"
        do {
            async let logged: Statistics = gateway.getOnce("/statistics?\(span)", within: timeout)
            async let ended: Statistics = gateway.getOnce("/statistics?by=ended&\(span)", within: timeout)
            return .success((try await logged, try await ended))
        } catch {
            return .failure(error as? GatewayFailure ?? GatewayFailure(.refused, "\(error)"))
        }
    }

    // MARK: The canary

    private struct Page: Decodable {
        let messages: [Message]
    }

    private static func askForCanary(_ gateway: GatewayClient, _ settings: SettingValues) async -> CanaryState {
        do {
            guard let topic = try settings.optional(.canaryTopic) else { return .notSetUp }
            let (account, interval) = (try settings.value(.canaryAccount), try settings.value(.canaryInterval))
            let page: Page = try await gateway.getOnce("/message?limit=10&subject=\(topic.subject)", within: timeout)
            // Other messages to its subject are not its own.
            return .known(CanaryMessages(page.messages.filter { $0.sender == account }), interval: interval)
        } catch {
            // A wrong setting of the canary must not hide the rest of the status.
            return .unknown(problem: "\(error)")
        }
    }

    /// Without a message, the canary is silent only if the token would see its messages.
    private static func canary(
        _ state: CanaryState, seenBy session: TokenSession?, _ settings: SettingValues
    ) -> CanaryState {
        guard case .known(nil, _) = state, let session, let topic = try? settings.optional(.canaryTopic),
            !session.sees(topic)
        else { return state }
        return .unknown(problem: "this token may not see its messages")
    }

    /// An invalid topic counts as a topic.
    private static func isCanarySetUp(_ settings: SettingValues) -> Bool {
        do {
            return try settings.optional(.canaryTopic) != nil
        } catch {
            return true
        }
    }

    private static func places(_ settings: SettingValues, _ health: Health) throws -> [Place] {
        try ServiceEntry.all.filter { !$0.sockets.isEmpty && health.services[$0.name] != nil }.map { service in
            let endpoints = try ClientEndpoints(settings.value(.endpoints(of: service)))
            return Place(name: service.name, endpoints: endpoints.current)
        }
    }
}

/// `GET /session`: which messages a token may see.
struct TokenSession: Decodable, Sendable {
    let role: Role
    /// The parts of the cube that the token is restricted to; `nil` for the whole cube.
    let scope: [TopicPrefix]?
    /// The topics that it may send to; `nil` for all. Empty without the right to send.
    let topics: [TopicKey]?

    /// Whether it sees all messages.
    var seesAll: Bool { role == .superUser && scope == nil }

    /// Whether it is sure to see the messages of a topic.
    func sees(_ topic: TopicKey) -> Bool {
        let isInScope = scope?.contains { $0.contains(topic) } ?? true
        return isInScope && (role == .superUser || topics?.contains(topic) ?? true)
    }
}

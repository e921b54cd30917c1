import AsyncHTTPClient
import Bus
import FoundationEssentials
import HTTPRouting
import Base
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import Schemas
import ServiceKit

/// Whether each relay can send by each of its Firebase projects: FCM checks a message to a topic, and does not deliver it.
struct FCMCheck: Sendable {
    private let installation: Installation
    private let settings: SettingValues
    private let endpoint: String
    private let certificates: String?
    private let isOn: Bool
    private let hasKey: Bool
    /// The endpoints of the relays that answer.
    private let relays: [String]
    /// The processes that a signal has stopped.
    private let stopped: [RunningProcess]
    /// The `msi up` that runs the services of a build; `nil` if none does.
    private let supervisor: RunningSupervisor?

    /// A topic without subscribed phones. The dry run sends nothing anyway.
    private static let topic = "msi-doctor"
    private static let timeout = Duration.seconds(15)
    /// The maximum difference of the clocks with which Google accepts tokens.
    private static let maxSkew = 5.0

    /// - Throws: ``ConfigurationError``.
    init(
        installation: Installation, settings: SettingValues, relays: [String], stopped: [RunningProcess],
        supervisor: RunningSupervisor?
    ) throws {
        self.installation = installation
        self.settings = settings
        self.relays = relays
        self.stopped = stopped
        self.supervisor = supervisor
        endpoint = try settings.value(.fcmEndpoint)
        certificates = try settings.optional(.fcmCAFile)
        isOn = try settings.usesFCM
        hasKey = try settings.optional(.fcmServiceAccountFile) != nil
    }

    /// - Returns: None if FCM is switched off.
    func findings() async throws -> [Finding] {
        guard isOn else { return [] }
        if let process = stopped.first(where: { $0.service == .fcmEmulator }) { return [process.stoppedFinding(.fcm)] }
        var findings: [Finding] = []
        if hasKey, let clock = await clock() { findings.append(clock) }
        if relays.isEmpty, let process = stopped.first(where: { $0.service == .fcmRelay }) {
            return findings + [process.stoppedFinding(.fcm)]
        }
        guard !relays.isEmpty else {
            return findings + [
                .warning(
                    .fcm, "no relay answers, so FCM's credentials are not checked by a dry run",
                    supervisor == nil ? installation.start(.fcmRelay) : "see the finding about the relay")
            ]
        }
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        let bus = try Bus(settings, logger: logger)
        let answers = await withTaskGroup(of: (Int, [Finding]).self) { group in
            for (index, relay) in relays.enumerated() {
                group.addTask { [logger] in (index, await dryRuns(by: relay, bus, logger)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        await bus.close()
        return findings + relays.indices.flatMap { answers[$0] ?? [] }
    }

    /// One for each project of a relay.
    private func dryRuns(by relay: String, _ bus: Bus, _ logger: Logger) async -> [Finding] {
        var findings: [Finding] = []
        do {
            let client = try CommandClient(bus: bus, endpoints: [relay], logger: logger)
            for project in try await client.request(ReadPace(), timeout: Self.timeout).projects {
                findings.append(await dryRun(project.id, relay, client))
            }
        } catch {
            findings.append(.failure(.fcm, "the relay at \(relay) does not name its projects: \(error)", "restart it"))
        }
        return findings
    }

    private func dryRun(_ project: String, _ relay: String, _ client: CommandClient) async -> Finding {
        let command = RelayPush(
            pushID: ObjectID(), recipients: [.topic(Self.topic)], message: ["data": ["msi": "doctor"]], validateOnly: true,
            project: project)
        let place = "the project \(project), by the relay at \(relay)"
        do {
            switch try await client.request(command, timeout: Self.timeout).results.first?.result {
            case .success?: return .ok(.fcm, "FCM accepts a dry run of \(place)")
            case .failure(let error)?: return Self.finding(error, place)
            case nil: return .failure(.fcm, "the relay answers the dry run of \(place) without an outcome", "upgrade the relay")
            }
        } catch {
            return .failure(.fcm, "the dry run of \(place) has failed: \(error.message)", "restart the relay; its log says more")
        }
    }

    static func finding(_ error: DeliveryError, _ place: String) -> Finding {
        let found = "the dry run of \(place) is refused: \(error.code): \(error.message)"
        let advice = FCMAdvice(for: error).text
        // FCM knows the credentials, and takes the next messages later.
        let isBusy = [.quotaExceeded, .rateLimitExceeded, .resourceExhausted, .projectPaused, .paced, .overloaded]
            .contains(error.catalogued)
        return isBusy ? .warning(.fcm, found, advice) : .failure(.fcm, found, advice)
    }

    // MARK: The clock

    /// Compares this machine's clock with that of FCM's server, by the `Date` of an answer.
    ///
    /// - Returns: `nil` without such an answer. The dry run says whether FCM can be reached.
    private func clock() async -> Finding? {
        var request = HTTPClientRequest(url: endpoint + "/")
        request.method = .HEAD
        do {
            let configuration = configuration
            let date = try await HTTPClient.withHTTPClient(
                eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration
            ) {
                try await $0.execute(request, timeout: .seconds(10)).headers.first(name: "Date")
            }
            return date.flatMap { UnixMilliseconds(httpDate: $0) }.map { Self.finding(Duration($0 - .now) / .seconds(1)) }
        } catch {
            return nil
        }
    }

    private var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        if let certificates {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(certificates)
            configuration.tlsConfiguration = tls
        }
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// - Parameter ahead: How many seconds FCM's clock is ahead. A `Date` has whole seconds, and the answer takes a while.
    static func finding(_ ahead: Double) -> Finding {
        let difference = abs(ahead)
        let found = "this machine's clock differs from FCM's by \(difference < 2 ? "less than 2" : "\(Int(difference))") s"
        if difference <= maxSkew { return .ok(.clock, found) }
        let advice = "set the clock by a time server: apt install systemd-timesyncd"
        return difference <= 60
            ? .warning(.clock, found, advice) : .failure(.clock, found + ", and Google refuses keys from such a clock", advice)
    }
}

/// What to do about an error of FCM's dry run.
struct FCMAdvice: Sendable {
    let text: String

    init(for error: DeliveryError) {
        text =
            switch error.catalogued {
            case .oauth: Self.token(error.message.lowercased())
            case .unauthenticated:
                "FCM refuses the token of this key: is the key of the same Firebase project, and MSI_FCM_ENDPOINT the right one?"
            case .permissionDenied, .failedPrecondition:
                "enable the Firebase Cloud Messaging API in the project, and give the service account the role Firebase Cloud Messaging "
                    + "API Admin"
            case .senderIDMismatch, .notFound:
                "the key belongs to another project or to one that was deleted: use a key of the right project"
            case .invalidArgument: "FCM refuses the message itself: does MSI_FCM_ENDPOINT lead to FCM?"
            case .network, .timeout, .unavailable:
                "does the relay have a network? Check the address of the name, the firewall and the proxy between it and MSI_FCM_ENDPOINT"
            case .tls:
                "FCM's certificate is not trusted: apt install ca-certificates, correct MSI_FCM_CA_FILE, and check the clock"
            case .circuitOpen: "FCM has failed many times in a row; the relay's log says why, and it tries again by itself"
            case .quotaExceeded, .rateLimitExceeded, .resourceExhausted, .projectPaused, .paced, .overloaded:
                "wait a few minutes; if it stays so, ask Google for a larger quota"
            default: "Services/FCMRelay/API.md explains the code; the relay's log says more"
            }
    }

    /// Advice for a missing access token.
    ///
    /// - Parameter message: The token endpoint's error message, in lower case.
    private static func token(_ message: String) -> String {
        if message.contains("short-lived") || message.contains("iat") || message.contains("expired") {
            return "the machine's clock is wrong: set it by a time server"
        }
        if message.contains("invalid_grant") || message.contains("invalid_client") || message.contains("cannot sign") {
            return
                "the key is wrong, or was deleted at Google: make a new one (Firebase console › Project settings › Service accounts), "
                + "put it in the place of the old one, and restart the relay"
        }
        if message.contains("no answer") {
            return
                "the relay does not reach the token endpoint that the key file names (token_uri): check the network, the firewall and the name's address"
        }
        return "the key is not accepted: is it of the right project? The relay's log says more"
    }
}

import AsyncHTTPClient
import CommandBus
import FoundationEssentials
import JSON
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
    private let hasKey: Bool
    /// The endpoints of the relays that answer.
    private let relays: [String]
    /// The processes that a signal has stopped.
    private let stopped: [RunningProcess]
    /// The `msi up` that runs the services of a build; `nil` if none does.
    private let supervisor: RunningSupervisor?

    /// To which no phone is subscribed. The message does not go out anyway.
    private static let topic = "msi-doctor"
    private static let timeout = Duration.seconds(15)
    /// A difference that leaves Google's tokens valid.
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
        hasKey = try settings.optional(.fcmServiceAccountFile) != nil || settings.optional(.fcmServerKeyFile) != nil
    }

    func findings() async throws -> [Finding] {
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
        if error.catalogued == .noServiceAccount {
            return .warning(.fcm, "\(place) cannot be checked: \(error.message)", advice)
        }
        // FCM knows the credentials, and takes the next messages later.
        let isBusy = [.quotaExceeded, .rateLimitExceeded, .resourceExhausted, .projectPaused, .paced, .overloaded]
            .contains(error.catalogued)
        return isBusy ? .warning(.fcm, found, advice) : .failure(.fcm, found, advice)
    }

    // MARK: The clock

    /// Compares this machine's clock with that of FCM's server, by the `Date` of an answer.
    ///
    /// - Returns: `nil` without such an answer. Whether FCM can be reached, the dry run says.
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
            return date.flatMap { HTTPDateText($0) }.map { Self.finding($0.seconds - Date().timeIntervalSince1970) }
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

/// The time of a `Date` header, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
struct HTTPDateText {
    /// Since 1970.
    let seconds: Double

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    init?(_ text: String) {
        guard let match = text.wholeMatch(of: /[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}:\d{2}:\d{2}) GMT/),
            let month = Self.months.firstIndex(of: String(match.2)),
            let date = try? Date("\(match.3)-\(month < 9 ? "0" : "")\(month + 1)-\(match.1)T\(match.4)Z", strategy: .iso8601)
        else { return nil }
        seconds = date.timeIntervalSince1970
    }
}

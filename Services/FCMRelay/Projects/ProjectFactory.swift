import FCM
import FoundationEssentials
import Logging
import Schemas
import ServiceKit
import Time

/// Makes the relay's projects from the settings.
struct ProjectFactory {
    /// The name of the settings' project if it has a server key, which contains no project id.
    private static let standardID = "default"
    private static let google = "https://fcm.googleapis.com"
    private static let googleTopics = "https://iid.googleapis.com"

    private let settings: SettingValues
    private let logger: Logger
    private let fcm: String
    /// `nil` if it is derived from FCM's endpoint.
    private let topics: String?
    private let network: CurlConfiguration
    private let defaults: FCMDefaults
    private let now: @Sendable () -> UnixMilliseconds = { .now }

    /// - Throws: ``ConfigurationError``.
    init(settings: SettingValues, logger: Logger) throws {
        self.settings = settings
        self.logger = logger
        fcm = try settings.value(.fcmEndpoint)
        topics = try settings.optional(.fcmTopicEndpoint)
        network = try CurlConfiguration(certificateAuthorityFile: Self.certificates(settings))
        var defaults = FCMDefaults()
        defaults.alertTimeToLive = try settings.value(.alertTTL)
        defaults.informationPriority = try settings.value(.fcmInformationPriority, as: FCMDefaults.Priority.self)
        defaults.payloadLimit = PayloadLimit(bytes: try settings.value(.fcmTopicPayloadLimit))
        self.defaults = defaults
    }

    /// The project that the settings describe, and those of the projects file.
    ///
    /// - Throws: ``ConfigurationError``, or ``TransportError`` if the system has no resources for a project's thread.
    func projects() async throws -> Projects {
        let credentials = try ProjectCredentials(settings: settings)
        let entries = try settings.optional(.fcmProjectsFile).map { try ProjectsFile(file: $0).projects } ?? []
        let others = try entries.map { ($0, try ProjectCredentials($0)) }
        try warnAboutReadableKeys(entries)
        var ids: Set = [credentials.projectID ?? Self.standardID]
        for (entry, credentials) in others {
            let id = entry.project ?? credentials.projectID ?? ""
            guard ids.insert(id).inserted else {
                throw ConfigurationError("\(Setting.fcmProjectsFile.declaration.name): it contains the project \(id) twice")
            }
        }
        let standard = try project(credentials, entry: nil)
        var made: [(project: Project, channels: [ObjectID])] = []
        do {
            for (entry, credentials) in others { made.append((try project(credentials, entry: entry), entry.channels ?? [])) }
        } catch {
            await standard.close()
            for (project, _) in made { await project.close() }
            throw error
        }
        return Projects(standard: standard, others: made)
    }

    /// Warns if other users can read the files with keys or the projects file.
    private func warnAboutReadableKeys(_ entries: [ProjectsFile.Entry]) throws {
        let named = try [Setting.fcmServiceAccountFile, .fcmServerKeyFile, .fcmProjectsFile].compactMap(settings.optional)
        let files = named + entries.compactMap(\.serviceAccountFile) + entries.compactMap(\.serverKeyFile)
        for file in files {
            if let warning = FilePermissions.warning(about: file) { logger.warning("\(warning)") }
        }
    }

    private func project(_ credentials: ProjectCredentials, entry: ProjectsFile.Entry?) throws -> Project {
        let quota = try entry?.quota ?? Int64(settings.value(.fcmQuota))
        let share = try entry?.quotaShare ?? Int64(settings.value(.fcmQuotaShare))
        let pacer = Pacer(
            rate: Double(quota) / 60 * Double(share) / 100, ramp: .seconds(try settings.value(.fcmRamp)))
        let fcm = entry?.endpoint ?? fcm
        let transport = try ShardedTransport(network)
        let id = entry?.project ?? credentials.projectID ?? Self.standardID
        switch credentials {
        case .serviceAccount(let account):
            let tokens = AccessTokenSource(
                granter: TokenEndpoint(account: account, transport: transport, now: now), project: id, logger: logger)
            let api = AuthorizedRequests(transport: transport, tokens: tokens)
            logger.info("uses a project", metadata: ["project": "\(id)", "account": "\(account)", "fcm": "\(fcm)"])
            // A replacement for FCM also replaces the Instance ID service.
            let topics = topics ?? (fcm == Self.google ? Self.googleTopics : fcm)
            let sender = HTTPv1Sender(endpoint: fcm, project: account.projectID, api: api, defaults: defaults, now: now)
            return Project(
                id: id, sender: sender, pushSender: sender,
                topics: TopicManager(endpoint: topics, api: api, now: now), tokens: tokens, transport: transport, pacer: pacer)
        case .serverKey(let key):
            logger.info("uses a project in the legacy format", metadata: ["project": "\(id)", "fcm": "\(fcm)"])
            return Project(
                id: id, sender: LegacySender(endpoint: fcm, key: key, transport: transport, defaults: defaults, now: now),
                pushSender: nil, topics: nil, tokens: nil, transport: transport, pacer: pacer)
        }
    }

    /// The file of certificates to trust. Each connection reads it, so it is checked here, before the first connection.
    private static func certificates(_ settings: SettingValues) throws -> String? {
        guard let path = try settings.optional(.fcmCAFile) else { return nil }
        let name = Setting.fcmCAFile.declaration.name
        guard let contents = try? Data(contentsOf: URL(filePath: path)) else {
            throw ConfigurationError("\(name): \(path) cannot be read")
        }
        guard String(decoding: contents, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw ConfigurationError("\(name): there is no certificate in \(path)")
        }
        return path
    }
}

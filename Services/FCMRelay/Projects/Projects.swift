import FCM
import FoundationEssentials
import HTTPTransport
import Base
import Logging
import Schemas
import ServiceKit

/// The relay's Firebase projects, and the mapping from channels to projects.
struct Projects: Sendable {
    let all: [Project]
    private let standard: Project
    private let byID: [String: Project]
    private let byChannel: [ObjectID: Project]

    /// - Parameters:
    ///   - standard: The project of all other channels.
    ///   - others: Further projects with their channels.
    init(standard: Project, others: [(project: Project, channels: [ObjectID])] = []) {
        self.standard = standard
        all = [standard] + others.map(\.project)
        byID = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        byChannel = Dictionary(others.flatMap { other in other.channels.map { ($0, other.project) } }) { first, _ in first }
    }

    /// Each project's connection to FCM as a part of the relay's health: `fcm` is the project of the settings.
    var health: [String: PartHealth] {
        var parts = ["fcm": standard.health]
        for project in all.dropFirst() { parts["fcm/\(project.id)"] = project.health }
        return parts
    }

    /// Refuses a command if the circuits of all projects are open. Then this relay cannot send for a while, but another one may.
    ///
    /// - Parameter isKnown: Whether the project's history has a part of this command.
    /// - Throws: ``CommandFailure`` `unavailable`.
    func checkCircuit(of project: Project, isKnown: @autoclosure () -> Bool) throws(CommandFailure) {
        // Only this relay knows which components FCM has accepted.
        guard let reason = project.openCircuit, all.allSatisfy({ $0.openCircuit != nil }), !isKnown() else { return }
        throw CommandFailure(.unavailable, "CIRCUIT_OPEN: \(reason)")
    }

    /// - Parameters:
    ///   - id: The project that a command names, if any.
    ///   - topicKey: The topic, whose channel decides if `id` is `nil`; `nil` for a push to anything but a topic of the cube.
    /// - Throws: ``CommandFailure`` `not_found`.
    func project(_ id: String?, for topicKey: TopicKey?) throws(CommandFailure) -> Project {
        guard let id else { return topicKey.flatMap { byChannel[$0.channel] } ?? standard }
        guard let project = byID[id] else {
            throw CommandFailure(.notFound, "the relay has no project \"\(id.prefix(60))\"", field: "project")
        }
        return project
    }
}

/// Makes the relay's projects from the settings.
struct ProjectFactory {
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
        network = try .fcm(trusting: Self.certificates(settings))
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
        let file = try settings.value(.fcmServiceAccountFile)
        let entries = try settings.optional(.fcmProjectsFile).map { try ProjectsFile(file: $0).projects } ?? []
        try warnAboutReadableKeys([file] + entries.map(\.serviceAccountFile))
        let account = try Self.account(in: file, of: .fcmServiceAccountFile)
        let others = try entries.map { ($0, try Self.account(in: $0.serviceAccountFile, of: .fcmProjectsFile)) }
        var ids: Set = [account.projectID]
        for (entry, account) in others {
            let id = entry.project ?? account.projectID
            guard ids.insert(id).inserted else {
                throw ConfigurationError("\(Setting.fcmProjectsFile.declaration.name): it contains the project \(id) twice")
            }
        }
        let standard = try project(account, entry: nil)
        var made: [(project: Project, channels: [ObjectID])] = []
        do {
            for (entry, account) in others { made.append((try project(account, entry: entry), entry.channels ?? [])) }
        } catch {
            await standard.close()
            for (project, _) in made { await project.close() }
            throw error
        }
        return Projects(standard: standard, others: made)
    }

    /// Reads a key file. An error begins with the name of the setting that led to it.
    static func account(in file: String, of setting: Setting<String>) throws -> ServiceAccount {
        do {
            return try ServiceAccount(file: file)
        } catch let error as ConfigurationError {
            throw ConfigurationError("\(setting.declaration.name): \(error)")
        }
    }

    /// Warns if other users can read the files with keys or the projects file.
    private func warnAboutReadableKeys(_ keys: [String]) throws {
        for file in try keys + [settings.optional(.fcmProjectsFile)].compactMap(\.self) {
            if let warning = FilePermissions.warning(about: file) { logger.warning("\(warning)") }
        }
    }

    private func project(_ account: ServiceAccount, entry: ProjectsFile.Entry?) throws -> Project {
        let quota = try entry?.quota ?? Int64(settings.value(.fcmQuota))
        let share = try entry?.quotaShare ?? Int64(settings.value(.fcmQuotaShare))
        let pacer = Pacer(
            rate: Double(quota) / 60 * Double(share) / 100, ramp: .seconds(try settings.value(.fcmRamp)))
        let fcm = entry?.endpoint ?? fcm
        let transport = try CurlTransport(network)
        let id = entry?.project ?? account.projectID
        let tokens = AccessTokenSource(
            granter: TokenEndpoint(account: account, transport: transport, now: now), project: id, logger: logger)
        let google = GoogleClient(transport: transport, tokens: tokens)
        logger.info("uses a project", metadata: ["project": "\(id)", "account": "\(account)", "fcm": "\(fcm)"])
        // A replacement for FCM also replaces the Instance ID service.
        let topics = topics ?? (fcm == Self.google ? Self.googleTopics : fcm)
        return Project(
            id: id, google: google,
            sender: HTTPv1Sender(endpoint: fcm, project: account.projectID, google: google, defaults: defaults, now: now),
            topics: TopicManager(endpoint: topics, google: google, now: now), pacer: pacer)
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

/// The file `MSI_FCM_PROJECTS_FILE`: Firebase projects in addition to the one of the settings.
///
/// `{"projects":[{"service_account_file":"/etc/msi/library.json","channels":["<channel _id>"],"quota":600000,"quota_share":80}]}`
struct ProjectsFile: Decodable, Sendable {
    struct Entry: Decodable, Checked, Sendable {
        /// Its id; if it is left out, the one of its service account.
        let project: String?
        let serviceAccountFile: String
        /// The endpoint of its FCM; if it is left out, the one of the settings.
        let endpoint: String?
        /// The channels whose messages it sends.
        let channels: [ObjectID]?
        /// Messages a minute; if it is left out, as in the settings.
        let quota: Int64?
        /// Percent of the quota; if it is left out, as in the settings.
        let quotaShare: Int64?

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case project, endpoint, channels, quota
            case serviceAccountFile = "service_account_file"
            case quotaShare = "quota_share"
        }

        func check() throws(SchemaViolation) {
            try TextLimits.project.check(project, CodingKeys.project)
            if let endpoint, !isHTTPSOrigin(endpoint) {
                throw SchemaViolation(CodingKeys.endpoint, "expected an https:// URL without a path")
            }
            try (1...1_000_000_000).check(quota, CodingKeys.quota)
            try (1...100).check(quotaShare, CodingKeys.quotaShare)
        }
    }

    let projects: [Entry]

    private enum CodingKeys: CodingKey, CaseIterable {
        case projects
    }

    /// Reads the file.
    ///
    /// - Throws: ``ConfigurationError`` that names the file and the field.
    init(file path: String) throws {
        let name = Setting.fcmProjectsFile.declaration.name
        let contents: Data
        do {
            contents = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw ConfigurationError("\(name): \(path) cannot be read: \((error as? CocoaError)?.reason ?? "\(error)")")
        }
        do {
            self = try JSONCoder.decodeStrictly(from: contents)
        } catch {
            throw ConfigurationError("\(name): \(path): \(error)")
        }
        var channels: Set<ObjectID> = []
        for channel in projects.flatMap({ $0.channels ?? [] }) where !channels.insert(channel).inserted {
            throw ConfigurationError("\(name): \(path): the channel \(channel) is in it twice")
        }
    }
}

extension CocoaError {
    /// Why a file could not be read.
    var reason: String {
        switch code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "there is no such file"
        case .fileReadNoPermission: "no permission"
        default: "the system's error \(code.rawValue)"
        }
    }
}

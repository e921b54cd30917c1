import FoundationEssentials
import JSON
import Schemas
import ServiceKit

/// The file `MSI_FCM_PROJECTS_FILE`: Firebase projects in addition to the one of the settings.
///
/// `{"projects":[{"service_account_file":"/etc/msi/library.json","channels":["<channel _id>"],"quota":600000,"quota_share":80}]}`
struct ProjectsFile: Decodable, Sendable {
    struct Entry: Decodable, Checked, Sendable {
        /// Its id; if it is left out, the one of its service account.
        let project: String?
        /// Exactly one of these two files is set.
        let serviceAccountFile: String?
        let serverKeyFile: String?
        /// The endpoint of its FCM, or of a gateway that speaks the legacy API; if it is left out, the one of the settings.
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
            case serverKeyFile = "server_key_file"
            case quotaShare = "quota_share"
        }

        func check() throws(SchemaViolation) {
            try TextLimits.project.check(project, CodingKeys.project)
            if let endpoint, !isHTTPSOrigin(endpoint) {
                throw SchemaViolation(CodingKeys.endpoint, "expected an https:// URL without a path")
            }
            try (1...1_000_000_000).check(quota, CodingKeys.quota)
            try (1...100).check(quotaShare, CodingKeys.quotaShare)
            if (serviceAccountFile == nil) == (serverKeyFile == nil) {
                throw SchemaViolation(
                    CodingKeys.serviceAccountFile, "expected a service_account_file or a server_key_file, and not both")
            }
            if serverKeyFile != nil, project == nil {
                throw SchemaViolation(CodingKeys.project, "missing, but required with a server_key_file")
            }
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

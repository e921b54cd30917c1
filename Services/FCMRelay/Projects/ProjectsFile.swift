import FoundationEssentials
import JSON
import Schemas
import ServiceKit

/// The file `MSI_FCM_PROJECTS_FILE`: Firebase projects in addition to the one of the settings.
///
/// `{"projects":[{"service_account_file":"/etc/msi/library.json","channels":["<channel _id>"],"quota":600000,"quota_share":80}]}`
struct ProjectsFile: Decodable, Sendable {
    struct Entry: Decodable, Sendable {
        /// Its id; if it is left out, the one of its service account.
        let project: String?
        /// Exactly one of these two files is set.
        let serviceAccountFile: String?
        let serverKeyFile: String?
        /// The endpoint of its FCM, or of a gateway that speaks the legacy API; if it is left out, the one of the settings.
        let endpoint: String?
        /// The channels whose messages it sends.
        let channels: [ObjectID]
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

        init(from decoder: any Decoder) throws {
            let fields = try StrictFields(of: decoder, as: CodingKeys.self)
            project = try fields.optionalText(.project, .project)
            serviceAccountFile = try fields.optional(.serviceAccountFile)
            serverKeyFile = try fields.optional(.serverKeyFile)
            endpoint = try fields.optional(.endpoint)
            if let endpoint, !isHTTPSOrigin(endpoint) {
                throw fields.violation(.endpoint, "expected an https:// URL without a path")
            }
            channels = try fields.optional(.channels) ?? []
            quota = try fields.optionalInteger(.quota, in: 1...1_000_000_000)
            quotaShare = try fields.optionalInteger(.quotaShare, in: 1...100)
            if (serviceAccountFile == nil) == (serverKeyFile == nil) {
                throw fields.violation(.serviceAccountFile, "expected a service_account_file or a server_key_file, and not both")
            }
            if serverKeyFile != nil, project == nil {
                throw fields.violation(.project, "missing, but required with a server_key_file")
            }
        }
    }

    let projects: [Entry]

    private enum CodingKeys: CodingKey, CaseIterable {
        case projects
    }

    init(from decoder: any Decoder) throws {
        projects = try StrictFields(of: decoder, as: CodingKeys.self).value(.projects)
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
        for channel in projects.flatMap(\.channels) where !channels.insert(channel).inserted {
            throw ConfigurationError("\(name): \(path): the channel \(channel) is in it twice")
        }
    }
}

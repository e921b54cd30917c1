import ServiceKit

/// A project's credentials at Google. They also decide which API it uses.
enum ProjectCredentials: Sendable {
    /// HTTP v1.
    case serviceAccount(ServiceAccount)
    /// The legacy API.
    case serverKey(ServerKey)

    /// Reads the file that the settings name.
    ///
    /// - Throws: ``ConfigurationError`` if the settings name neither or both files, or the file cannot be used.
    init(settings: SettingValues) throws {
        let account = try settings.optional(.fcmServiceAccountFile)
        let key = try settings.optional(.fcmServerKeyFile)
        switch (account, key) {
        case (nil, let key?): self = .serverKey(try Self.read(.fcmServerKeyFile) { try ServerKey(file: key) })
        case (_?, _?):
            throw ConfigurationError(
                "\(Setting.fcmServiceAccountFile.declaration.name) and \(Setting.fcmServerKeyFile.declaration.name): expected one "
                    + "of them: a key of the legacy API takes the place of a service account")
        case (nil, nil):
            throw ConfigurationError(
                "\(Setting.fcmServiceAccountFile.declaration.name) is required: \(Setting.fcmServiceAccountFile.declaration.expected), "
                    + "the key of the Firebase project's service account; or \(Setting.fcmServerKeyFile.declaration.name) for FCM's "
                    + "legacy API")
        case (let account?, nil):
            self = .serviceAccount(try Self.read(.fcmServiceAccountFile) { try ServiceAccount(file: account) })
        }
    }

    /// Reads the file that an entry of the projects file names.
    init(_ entry: ProjectsFile.Entry) throws {
        self = try Self.read(.fcmProjectsFile) {
            if let path = entry.serviceAccountFile { return .serviceAccount(try ServiceAccount(file: path)) }
            return .serverKey(try ServerKey(file: entry.serverKeyFile ?? ""))
        }
    }

    /// Reads a file. An error begins with the name of the setting that led to it.
    private static func read<Value>(_ setting: Setting<String>, _ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let error as ConfigurationError {
            throw ConfigurationError("\(setting.declaration.name): \(error)")
        }
    }

    /// The project's id, if the credentials contain it.
    var projectID: String? {
        switch self {
        case .serviceAccount(let account): account.projectID
        case .serverKey: nil
        }
    }
}

/// How a relay reaches an FCM emulator on this machine.
package struct EmulatorAccess: Hashable, Sendable {
    /// The name of the emulator's folder in its state directory.
    package static let folderName = "fcm-emulator"

    package let port: Int
    /// The folder in which the emulator keeps its certificates and its service account's key.
    package let folder: String

    /// - Parameters:
    ///   - port: The emulator's HTTPS port.
    ///   - stateDirectory: The emulator's state directory.
    package init(port: Int, stateDirectory: String) {
        self.port = port
        folder = "\(stateDirectory)/\(Self.folderName)"
    }

    package var url: String { "https://127.0.0.1:\(port)" }

    /// The PEM file of the certificate to trust.
    package var certificateFile: String { folder + "/ca.pem" }

    package var serviceAccountFile: String { folder + "/service-account.json" }

    /// The relay's settings, by their names in the environment.
    package var settings: [String: String] {
        [
            Setting.fcmEndpoint.declaration.name: url,
            Setting.fcmServiceAccountFile.declaration.name: serviceAccountFile,
            Setting.fcmCAFile.declaration.name: certificateFile,
        ]
    }
}

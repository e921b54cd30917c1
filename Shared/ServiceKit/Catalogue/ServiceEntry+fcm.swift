extension ServiceEntry {
    /// The service that sends to FCM.
    package static let fcmRelay = ServiceEntry(
        "fcm-relay", "hands messages to Firebase Cloud Messaging.",
        title: "FCM relay", purpose: "to hand messages to",
        sockets: [.commands], mayHaveInstances: true,
        // It reads the key file that the emulator writes at its first start.
        startsAfter: [.fcmEmulator],
        // For the topics of phones. The message log reports whether messages can be relayed.
        gatewayUses: [.commands], gatewayNeed: .reportedByOther,
        settings: [
            Setting.fcmServiceAccountFile.declaration, Setting.fcmProjectsFile.declaration, Setting.fcmEndpoint.declaration,
            Setting.fcmTopicEndpoint.declaration, Setting.fcmCAFile.declaration, Setting.fcmTopicPayloadLimit.declaration,
            Setting.fcmQuota.declaration, Setting.fcmQuotaShare.declaration, Setting.fcmRamp.declaration,
            Setting.alertTTL.declaration, Setting.fcmInformationPriority.declaration,
        ])
}

extension Setting where Value == Bool {
    package static let fcm = Setting(
        "fcm",
        "Whether messages and pushes go to Firebase Cloud Messaging. All services need the same value; with off, no relay is needed.",
        expected: "on or off", default: "on"
    ) { ["on": true, "off": false][$0] }
}

extension Setting where Value == String {
    package static let fcmServiceAccountFile = secretFile(
        "fcm.service.account.file", "The key file of the Firebase project's service account, as Google issues it."
    ).readAtStart()
    package static let fcmProjectsFile = text(
        "fcm.projects.file",
        "A JSON file with further Firebase projects and their channels; see Services/FCMRelay/API.md.", expected: "a file"
    ).readAtStart()
    package static let fcmEndpoint = Setting(
        "fcm.endpoint", "The address of FCM.", expected: originForm, default: "https://fcm.googleapis.com",
        parse: { isHTTPSOrigin($0) ? $0 : nil })
    package static let fcmTopicEndpoint = Setting(
        "fcm.topic.endpoint",
        "The address of topic management; by default https://iid.googleapis.com for Google's FCM, otherwise the FCM endpoint.",
        expected: originForm, parse: { isHTTPSOrigin($0) ? $0 : nil })
    package static let fcmCAFile = text(
        "fcm.ca.file", "A file with certificates (PEM) to trust for FCM instead of the system's.", expected: "a file"
    ).readAtStart()
    package static let fcmInformationPriority = choice(
        "fcm.information.priority",
        "The priority of Information on Android: high wakes a phone at once, normal waits until it wakes up.",
        of: ["high", "normal"], default: "high")

    private static var originForm: String { "an https:// URL without a path" }
}

extension Setting where Value == Int {
    package static let fcmQuota = integer(
        "fcm.quota", "The number of messages a minute that FCM allows the project.", in: 1...1_000_000_000, default: 600_000)
    package static let fcmQuotaShare = integer(
        "fcm.quota.share", "The percentage of FCM's quota that the relay uses.", in: 1...100, default: 80)
    package static let fcmRamp = integer(
        "fcm.ramp", "The seconds in which the relay rises to its full rate after a time without traffic.", in: 0...3_600,
        default: 60)
}

extension ServiceEntry {
    /// The replacement of FCM in development and tests.
    package static let fcmEmulator = ServiceEntry(
        "fcm-emulator",
        "A local Firebase Cloud Messaging for development and tests: sends, topics, phones to receive them, and faults.",
        title: "FCM emulator",
        port: .fcmEmulatorPort,
        stateFiles: [EmulatorAccess.folderName],
        settings: [Setting.fcmEmulatorTopicPayloadLimit.declaration, Setting.fcmEmulatorBehaviourFile.declaration])
}

extension Setting where Value == Int {
    package static let fcmEmulatorPort = port("fcm.emulator.port", "The FCM emulator's HTTPS port on 127.0.0.1.", default: 8_443)
    package static let fcmEmulatorTopicPayloadLimit = integer(
        "fcm.emulator.topic.payload.limit", "The maximum size of a message to a topic, in bytes.",
        in: 1...4_096, default: 4_096)
}

extension Setting where Value == String {
    package static let fcmEmulatorBehaviourFile = text(
        "fcm.emulator.behaviour.file",
        "A JSON file with the emulator's initial faults and limits; see Services/FCMEmulator/API.md.",
        expected: "a file"
    ).readAtStart()
}

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

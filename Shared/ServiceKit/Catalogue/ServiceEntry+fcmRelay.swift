extension ServiceEntry {
    /// The service that sends to FCM.
    package static let fcmRelay = ServiceEntry(
        "fcm-relay", "hands messages to Firebase Cloud Messaging.",
        title: "FCM relay", purpose: "to hand messages to",
        sockets: [.commands], mayHaveInstances: true,
        // It reads the key file that the emulator writes at its first start.
        startsAfter: [.fcmEmulator],
        // For the topics of phones. Whether messages can be relayed, the message log says.
        gatewayUses: [.commands], gatewayNeed: .reportedByOther,
        settings: [
            Setting.fcmServiceAccountFile.declaration, Setting.fcmServerKeyFile.declaration, Setting.fcmProjectsFile.declaration,
            Setting.fcmEndpoint.declaration, Setting.fcmTopicEndpoint.declaration, Setting.fcmCAFile.declaration,
            Setting.fcmTopicPayloadLimit.declaration, Setting.fcmQuota.declaration, Setting.fcmQuotaShare.declaration,
            Setting.fcmRamp.declaration, Setting.alertTTL.declaration, Setting.fcmInformationPriority.declaration,
        ])
}

extension Setting where Value == String {
    package static let fcmServiceAccountFile = secretFile(
        "fcm.service.account.file", "The key file of the Firebase project's service account, as Google issues it."
    ).readAtStart()
    package static let fcmServerKeyFile = secretFile(
        "fcm.server.key.file",
        "A file with only the server key of FCM's legacy API, instead of a service account, for a server that still speaks it."
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

package import Time

extension ServiceEntry {
    /// The service of the archive and its outbox.
    package static let messageLog = ServiceEntry(
        "message-log", "archives messages, and relays each of them, and each push of another service, until it has ended.",
        title: "message-logging service",
        sockets: [.commands, .events], mayHaveInstances: true,
        uses: [
            BusUse(service: .fcmRelay, sockets: [.commands]),
            // For the audit log.
            BusUse(service: .people, sockets: [.commands], isNeededAtStart: false),
        ],
        gatewayUses: [.commands, .events],
        keepsData: true,
        stateFiles: ["message-log.sqlite", "templates.sqlite", "message-log.id", "message-log.processes"],
        settings: [
            Setting.messageRetention.declaration, Setting.messageLogStorageLimit.declaration,
            Setting.alertFetchDelay.declaration,
            Setting.fcmTopicPayloadLimit.declaration, Setting.canaryTopic.declaration, Setting.canaryAccount.declaration,
        ])
}

extension Setting where Value == Int {
    package static let messageRetention = integer(
        "message.retention",
        "For how many days ended messages and pushes are kept in the archive; 0 is for ever.", in: 0...36_500,
        default: 0
    ).changingLive()
}

extension Setting where Value == Int64 {
    package static let messageLogStorageLimit = bytes(
        "message.log.storage.limit",
        """
        The maximum size of the archive with its write-ahead log: at 90 % the log warns, at 95 % new messages are refused; the \
        rest is for messages that were accepted before.
        """
    ).changingLive()
}

extension Setting where Value == Seconds {
    package static let alertFetchDelay = seconds(
        "alert.fetch.delay",
        "For how many seconds an Alert waits for FCM before running apps can fetch it from the hub.", in: 1...3_600, default: 5
    ).changingLive()
}

package import FCM
package import Logging
import Schemas

// All settings of the product. A service reads those that it needs. A variable whose name is nearly one of them stops the start.

extension Setting where Value == String {
    package static let stateDirectory = text(
        "state.dir", "Where databases, logs and the emulator's files are kept.", expected: "a folder",
        default: "~/.local/state/msi")
    package static let runtimeDirectory = text(
        "runtime.dir", "Where the services' bus sockets are.", expected: "a folder", default: "$MSI_STATE_DIR/run")

    package static let databaseURL = Setting(
        "database.url", "Where the cube and the messages are kept; without it, in files in the state directory.",
        expected: "a MongoDB connection string, mongodb://HOST:PORT/DATABASE or mongodb+srv://HOST/DATABASE", isSecret: true
    ) { $0.isEmpty ? nil : $0 }

    package static let cubeListen = busEndpoint(
        "cube.listen", "Where the cube service takes commands.",
        default: "ipc://$MSI_RUNTIME_DIR/cube.sock")
    package static let cubeEventsListen = busEndpoint(
        "cube.events.listen", "Where the cube service publishes its events.",
        default: "ipc://$MSI_RUNTIME_DIR/cube-events.sock")
    package static let messageLogListen = busEndpoint(
        "message.log.listen", "Where the message-logging service takes commands.",
        default: "ipc://$MSI_RUNTIME_DIR/message-log.sock")
    package static let fcmRelayListen = busEndpoint(
        "fcm.relay.listen", "Where the FCM relay takes commands.",
        default: "ipc://$MSI_RUNTIME_DIR/fcm-relay.sock")

    package static let fcmServiceAccountFile = text(
        "fcm.service.account.file", "The key file of the Firebase project's service account, as Google hands it out.",
        expected: "a file")
    package static let fcmServerKeyFile = text(
        "fcm.server.key.file",
        "The key of FCM's legacy API, alone in a file: instead of a service account's, for a gateway that still speaks that API.",
        expected: "a file")
    package static let fcmProjectsFile = text(
        "fcm.projects.file",
        "Further Firebase projects and the channels that go by them: JSON, see Services/FCMRelay/API.md.", expected: "a file")
    package static let fcmEndpoint = Setting(
        "fcm.endpoint", "Where FCM is.", expected: originForm, default: "https://fcm.googleapis.com",
        parse: { isHTTPSOrigin($0) ? $0 : nil })
    package static let fcmTopicEndpoint = Setting(
        "fcm.topic.endpoint",
        "Where topics are managed; without it, at https://iid.googleapis.com for Google's FCM, and at the FCM endpoint otherwise.",
        expected: originForm, parse: { isHTTPSOrigin($0) ? $0 : nil })
    package static let fcmCAFile = text(
        "fcm.ca.file", "Certificates (PEM) to trust for FCM instead of the system's.", expected: "a file")

    package static let fcmEmulatorBehaviourFile = text(
        "fcm.emulator.behaviour.file",
        "How the emulator treats its clients from the start, faults and limits: JSON, see Services/FCMEmulator/API.md.",
        expected: "a file")

    private static var originForm: String { "an https:// URL without a path" }
}

extension Setting where Value == [String] {
    package static let cubeEndpoints = busEndpoints(
        "cube.endpoints", "The cube services to ask.", default: "ipc://$MSI_RUNTIME_DIR/cube.sock")
    package static let cubeEventsEndpoints = busEndpoints(
        "cube.events.endpoints", "The cube services whose events to follow.",
        default: "ipc://$MSI_RUNTIME_DIR/cube-events.sock")
    package static let messageLogEndpoints = busEndpoints(
        "message.log.endpoints", "The message-logging services to ask.",
        default: "ipc://$MSI_RUNTIME_DIR/message-log.sock")
    package static let fcmRelayEndpoints = busEndpoints(
        "fcm.relay.endpoints", "The FCM relays to hand messages to.",
        default: "ipc://$MSI_RUNTIME_DIR/fcm-relay.sock")
    package static let gatewayCORSOrigins = Setting(
        "gateway.cors.origins", "The origins whose pages may call the gateway from a browser, beside its own.",
        expected: "origins such as https://portal.example.edu, in lower case and without a path, separated by commas", default: ""
    ) { text in
        let origins = items(of: text)
        return origins.allSatisfy(isBrowserOrigin) ? origins : nil
    }
}

extension Setting where Value == Int {
    package static let gatewayPort = port("gateway.port", "The gateway's HTTP port on 127.0.0.1.", default: 8_080)
    package static let gatewayMaxConnections = integer(
        "gateway.max.connections",
        "How many HTTP connections the gateway serves at a time; while there are more, it answers 503 to all but GET /health.",
        in: 1...100_000, default: 1_000)
    package static let fcmEmulatorPort = port("fcm.emulator.port", "The FCM emulator's HTTPS port on 127.0.0.1.", default: 8_443)
    package static let fcmEmulatorTopicPayloadLimit = integer(
        "fcm.emulator.topic.payload.limit", "The most bytes that the emulator takes in a message to a topic.",
        in: 1...4_096, default: 4_096)
    package static let fcmTopicPayloadLimit = integer(
        "fcm.topic.payload.limit",
        "The most bytes that FCM takes in a message to a topic; the gateway and the relay need the same.",
        in: 1...4_096, default: 4_096)
    package static let fcmQuota = integer(
        "fcm.quota", "How many messages a minute FCM allows the project.", in: 1...1_000_000_000, default: 600_000)
    package static let fcmQuotaShare = integer(
        "fcm.quota.share", "How much of FCM's quota the relay uses, of a hundred.", in: 1...100, default: 80)
    package static let fcmRamp = integer(
        "fcm.ramp", "Over how many seconds the relay rises to its full rate after a time without traffic.", in: 0...3_600,
        default: 60)
    package static let messageTTL = integer(
        "message.ttl", "For how many seconds a message is worth delivering where its sender does not say; see MSI_ALERT_TTL.",
        in: 60...2_419_200, default: 2_419_200)
    package static let alertTTL = integer(
        "alert.ttl",
        "For how many seconds an Alert is worth delivering where its sender does not say; MSI_MESSAGE_TTL if that is shorter.",
        in: 60...2_419_200, default: 86_400)
    package static let messageRetention = integer(
        "message.retention",
        "For how many days messages are kept in the archive once they have come to their end; 0 is for ever.", in: 0...36_500,
        default: 0)
}

extension Setting where Value == Int64 {
    /// The upper bound is the size of a cube that fits into one reply (`CubePages`).
    package static let cubeSizeLimit = bytes(
        "cube.size.limit",
        "How large channels, areas and subjects may become together, in bytes of their JSON; what would make them larger is refused.",
        in: ("1KiB", "12MiB"), default: "8MiB")
    package static let messageLogStorageLimit = bytes(
        "message.log.storage.limit",
        """
        How much the archive may take up, its write-ahead log included: at 90 % the log warns, at 95 % new messages are refused; \
        the rest is for those that were accepted before.
        """)
}

extension Setting where Value == FCMDefaults.Priority {
    package static let fcmInformationPriority = Setting(
        "fcm.information.priority",
        "How urgent Information is to Android's phones: high wakes each at once, normal waits until it wakes up.",
        expected: "one of " + FCMDefaults.Priority.allCases.map(\.rawValue).joined(separator: ", "), default: "high"
    ) { FCMDefaults.Priority(rawValue: $0) }
}

extension Setting where Value == Logger.Level {
    package static let logLevel = Setting(
        "log.level", "The least important log lines to write.",
        expected: "one of " + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "), default: "info"
    ) { Logger.Level(rawValue: $0) }
}

extension Setting where Value == LogFormat {
    package static let logFormat = Setting(
        "log.format", "How log lines look; auto is text on a terminal and JSON otherwise.",
        expected: "one of " + LogFormat.allCases.map(\.rawValue).joined(separator: ", "), default: "auto"
    ) { LogFormat(rawValue: $0) }
}

extension Setting where Value == Bool {
    package static let supervised = Setting(
        "supervised", "Whether to stop when standard input ends; `msi up` sets it, so that no service outlives it.",
        expected: "true or false", default: "false"
    ) { ["true": true, "false": false][$0] }
}

extension SettingDeclaration {
    /// A file of `NAME=value` lines. The file itself cannot contain this setting.
    package static let configFile = Setting<String>.text(
        "config.file", "A file of NAME=value lines to read settings from.", expected: "a file"
    ).declaration

    /// The settings of every service.
    package static let common: [SettingDeclaration] = [
        configFile, Setting.stateDirectory.declaration, Setting.runtimeDirectory.declaration,
        Setting.logLevel.declaration, Setting.logFormat.declaration, Setting.supervised.declaration,
    ]

    /// All settings.
    package static let all: [SettingDeclaration] =
        common + [
            Setting.databaseURL.declaration, Setting.cubeListen.declaration, Setting.cubeEventsListen.declaration,
            Setting.cubeSizeLimit.declaration, Setting.messageLogListen.declaration,
            Setting.fcmRelayListen.declaration, Setting.cubeEndpoints.declaration, Setting.cubeEventsEndpoints.declaration,
            Setting.messageLogEndpoints.declaration, Setting.fcmRelayEndpoints.declaration,
            Setting.messageRetention.declaration, Setting.messageLogStorageLimit.declaration,
            Setting.gatewayPort.declaration, Setting.gatewayCORSOrigins.declaration,
            Setting.gatewayMaxConnections.declaration, Setting.messageTTL.declaration,
            Setting.alertTTL.declaration, Setting.fcmInformationPriority.declaration,
            Setting.fcmServiceAccountFile.declaration, Setting.fcmServerKeyFile.declaration, Setting.fcmProjectsFile.declaration,
            Setting.fcmEndpoint.declaration, Setting.fcmTopicEndpoint.declaration, Setting.fcmCAFile.declaration,
            Setting.fcmQuota.declaration, Setting.fcmQuotaShare.declaration, Setting.fcmRamp.declaration,
            Setting.fcmTopicPayloadLimit.declaration, Setting.fcmEmulatorPort.declaration,
            Setting.fcmEmulatorTopicPayloadLimit.declaration, Setting.fcmEmulatorBehaviourFile.declaration,
        ]
}

package import Logging
package import Base

// The settings that several services read. A setting of a single service is declared with its entry in the catalogue.

extension Setting where Value == String {
    package static let stateDirectory = text(
        "state.dir", "The folder of the databases, the logs and the emulator's files.", expected: "a folder",
        default: "~/.local/state/msi")
    package static let runtimeDirectory = text(
        "runtime.dir", "The folder of the services' bus sockets.", expected: "a folder", default: "$MSI_STATE_DIR/run")

    package static let databaseURL = Setting(
        "database.url", "The MongoDB database for the services' data; without it, the data is in files in the state directory.",
        expected: "a MongoDB connection string, mongodb://HOST:PORT/DATABASE or mongodb+srv://HOST/DATABASE", isSecret: true
    ) { $0.isEmpty ? nil : $0 }
}

extension Setting where Value == Int {
    package static let fcmTopicPayloadLimit = integer(
        "fcm.topic.payload.limit",
        "The maximum size of a message to a topic, in bytes; the gateway, the message log and the relay need the same value.",
        in: 1...4_096, default: 4_096)
}

extension Setting where Value == Int {
    package static let metricsPort = Setting(
        "metrics.port",
        """
        The TCP port on 127.0.0.1 for /metrics (Prometheus), /livez and /readyz; without it there is none. Each process needs its own: \
        msi up gives the services this port and those that follow it.
        """, expected: "a port from 0 to 65535"
    ) { Int($0).flatMap { (0...65_535).contains($0) ? $0 : nil } }
}

extension Setting where Value == Seconds {
    package static let alertTTL = seconds(
        "alert.ttl",
        "For how many seconds an Alert is worth delivering by default; MSI_MESSAGE_TTL if that is shorter.",
        in: 60...2_419_200, default: 86_400)
}

extension Setting where Value == Logger.Level {
    package static let logLevel = Setting(
        "log.level", "The minimum level of the log lines. Those about messages and pushes that go well are at debug.",
        expected: "one of " + Logger.Level.allCases.map(\.rawValue).joined(separator: ", "), default: "info"
    ) { Logger.Level(rawValue: $0) }.changingLive()
}

extension Setting where Value == LogFormat {
    package static let logFormat = Setting(
        "log.format", "The form of the log lines; auto is text on a terminal and JSON otherwise.",
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
        Setting.logLevel.declaration, Setting.logFormat.declaration, Setting.metricsPort.declaration,
        Setting.supervised.declaration,
    ]

    /// The settings of the services that store data.
    package static let database: [SettingDeclaration] = {
        let url = Setting.databaseURL.declaration
        return [url] + (url.file.map { [$0] } ?? [])
    }()

    /// All settings, each once.
    package static let all: [SettingDeclaration] = {
        let declared =
            common + callingGateway + (ServiceEntry.all + ServiceEntry.optional + [.phone, .phoneFleet]).flatMap(\.settings)
        return declared.reduce(into: []) { all, next in
            if !all.contains(next) { all.append(next) }
        }
    }()

    /// All settings, each once, with those that name the files of secrets.
    package static let withFiles: [SettingDeclaration] = all.reduce(into: []) { all, next in
        for setting in [next] + (next.file.map { [$0] } ?? []) where !all.contains(setting) { all.append(setting) }
    }
}

// The settings of programs that call the gateway as a portal does, such as `msi send`.

extension Setting where Value == String {
    package static let gatewayURL = Setting(
        "gateway.url",
        "The gateway to call; by default the one on this machine, at MSI_GATEWAY_PORT, or at MSI_GATEWAY_PUBLIC_URL if it uses TLS.",
        expected: "an https:// URL without a path; http:// only with a loopback address"
    ) { text in
        let text = text.hasSuffix("/") ? String(text.dropLast()) : text
        return isHTTPSOrigin(text) || isLoopbackURL(text) ? text : nil
    }
    package static let token = Setting(
        "token", "The bearer token to call the gateway with; by default the file `token` in MSI_STATE_DIR, if there is one.",
        expected: "a bearer token", isSecret: true
    ) { text in text.isEmpty || !text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? nil : text }
}

extension SettingDeclaration {
    /// The settings of programs that call the gateway.
    package static let callingGateway: [SettingDeclaration] =
        [
            Setting.gatewayURL.declaration, Setting.token.declaration,
        ] + (Setting.token.declaration.file.map { [$0] } ?? [])
}

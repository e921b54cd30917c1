package import Schemas
package import Base

extension ServiceEntry {
    /// The canary, which an operator sets up: it needs its own topic, token and phone.
    package static let canary = ServiceEntry(
        "canary", "sends a message to its own topic every minute, and measures how long it takes to a phone.",
        title: "canary",
        settings: [Setting.canaryTopic.declaration, Setting.canaryInterval.declaration, Setting.canaryToken.declaration]
            + (Setting.canaryToken.declaration.file.map { [$0] } ?? [])
            + [
                Setting.canaryPushPort.declaration, Setting.canaryPushURL.declaration, Setting.fcm.declaration,
                Setting.gatewayURL.declaration, Setting.gatewayPort.declaration,
            ])
}

extension Setting where Value == TopicKey {
    package static let canaryTopic = Setting(
        "canary.topic",
        """
        The topic key of the canary's subject. The message log keeps the canary's messages to it for an hour, and enters them into no \
        audit log.
        """,
        expected: "a topic key: three ObjectIds joined by -"
    ) { TopicKey($0) }
}

extension Setting where Value == Seconds {
    package static let canaryInterval = seconds(
        "canary.interval", "The number of seconds between two messages of the canary.", in: 1...600, default: 60)
}

extension Setting where Value == String {
    package static let canaryAccount = Setting(
        "canary.account",
        "The account of the canary's token. What other accounts send to its subject is kept and audited like all messages.",
        expected: "the name of an account", default: "canary"
    ) { $0.isEmpty ? nil : $0 }

    package static let canaryToken = Setting(
        "canary.token", "The bearer token of the canary, with the rights send and read for its subject alone.",
        expected: "a bearer token", isSecret: true
    ) { text in text.isEmpty || !text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? nil : text }

    package static let canaryPushURL = Setting(
        "canary.push.url",
        """
        The origin under which the Web Push service reaches the canary's port for pushes, if that is not http://127.0.0.1 with \
        MSI_CANARY_PUSH_PORT. MSI_WEBPUSH_HOSTS must name it.
        """,
        expected: "an https:// origin, or an http:// origin of this machine"
    ) { isBrowserOrigin($0) && (isHTTPSOrigin($0) || isLoopbackURL($0)) ? $0 : nil }
}

extension Setting where Value == Int {
    package static let canaryPushPort = Setting(
        "canary.push.port",
        """
        The port on 127.0.0.1 on which the canary takes pushes to its own Web Push subscription; without it, it has none. \
        MSI_WEBPUSH_HOSTS must name http://127.0.0.1 with this port.
        """,
        expected: "a port from 1 to 65535"
    ) { Int($0).flatMap { (1...65_535).contains($0) ? $0 : nil } }
}

extension ServiceEntry {
    /// A simulated phone. It is not part of an installation, so it is not in ``all``.
    package static let phone = ServiceEntry(
        "phone", "a simulated phone at the local FCM emulator, with the students' app as a page.",
        title: "phone",
        port: .phonePort,
        stateFiles: ["phones"],
        settings: [
            Setting.phoneName.declaration, Setting.phoneBroadcastsFile.declaration, Setting.phoneBroadcastsURL.declaration,
            Setting.gatewayURL.declaration, Setting.gatewayPort.declaration,
            Setting.fcmEmulatorPort.declaration,
        ])
}

extension Setting where Value == Int {
    package static let phonePort = port("phone.port", "The port of the phone's page on 127.0.0.1.", default: 8_090)
}

extension Setting where Value == String {
    package static let phoneBroadcastsFile = text(
        "phone.broadcasts.file",
        "A file with the broadcasts that ship with the app: a JSON array, each with an id and a relativetime, the hours after the "
            + "installation.",
        expected: "a file")
    package static let phoneBroadcastsURL = Setting(
        "phone.broadcasts.url",
        "The address of the file of MSI_BROADCAST_FILE, or of a mirror of GET /broadcast/active, at another server, which the app reads "
            + "while the hub is away; without it there is none.",
        expected: "an http:// or https:// address"
    ) { $0.hasPrefix("http://") || $0.hasPrefix("https://") ? $0 : nil }
    package static let phoneName = Setting(
        "phone.name", "The phone's name. Each name is a separate phone, with its own messages.",
        expected: "1 to 40 ASCII letters, digits, - and _", default: "phone"
    ) { text in
        let isValid = text.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || Character(UnicodeScalar($0)).isNumber
                || Character(UnicodeScalar($0)).isLetter
        }
        return isValid && (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { $0 < 0x80 } ? text : nil
    }
}

extension ServiceEntry {
    /// Many simulated phones in one process of the phone's executable: `msi-phone fleet`.
    package static let phoneFleet = ServiceEntry(
        "phone", "many simulated phones, which count at their end what they have received.",
        title: "fleet of phones",
        settings: [
            Setting.fleetCount.declaration, Setting.fleetSeconds.declaration, Setting.fleetUnsteady.declaration,
            Setting.fleetAccounts.declaration, Setting.fleetInterval.declaration, Setting.gatewayURL.declaration,
            Setting.gatewayPort.declaration, Setting.fcmEmulatorPort.declaration, Setting.identityEmulatorPort.declaration,
        ])
}

extension Setting where Value == Int {
    package static let fleetCount = integer("phone.fleet.count", "The number of phones.", in: 1...30_000, default: 100)

    package static let fleetSeconds = integer(
        "phone.fleet.seconds", "For how many seconds the phones run; 0 for until SIGTERM or Ctrl-C.", in: 0...86_400, default: 0)

    package static let fleetUnsteady = integer(
        "phone.fleet.unsteady",
        "How many of the phones are a trial: a third of them is offline at times, for another third the app is killed at times, "
            + "and the rest registers late.",
        in: 0...30_000, default: 0)

    package static let fleetInterval = integer(
        "phone.fleet.interval", "How often the apps look at the hub, in seconds. Phones of students do it once a minute.",
        in: 1...3_600, default: 60)

    package static let fleetAccounts = integer(
        "phone.fleet.accounts",
        "How many persons are signed in, each on two of the phones: with tokens of the identity emulator, or else with a password. In "
            + "pairs they become friends and part again.",
        in: 0...15_000, default: 0)
}

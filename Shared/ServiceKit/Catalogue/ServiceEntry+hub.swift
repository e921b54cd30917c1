import Schemas
package import Base

extension ServiceEntry {
    /// The HTTP server. It uses every service whose entry says so.
    package static let gateway = ServiceEntry(
        "gateway", "takes portals' HTTP requests and hands them to the services.",
        title: "gateway",
        port: .gatewayPort,
        uses: behindGateway.filter { !$0.gatewayUses.isEmpty }.map {
            BusUse(service: $0, sockets: $0.gatewayUses, isNeededAtStart: $0.gatewayNeed.isAtStart)
        },
        stateFiles: ["gateway.json", "gateway-devices.log"],
        settings: SettingDeclaration.gatewayAccess + [
            Setting.messageTTL.declaration, Setting.alertTTL.declaration, Setting.fcmTopicPayloadLimit.declaration,
            Setting.gatewayPeopleGrace.declaration, Setting.gatewayAskAbove.declaration, Setting.fcm.declaration,
            Setting.webPushContact.declaration,
        ] + SettingDeclaration.map)
}

extension Setting where Value == Int {
    package static let gatewayPort = port("gateway.port", "The gateway's HTTP port.", default: 8_080)

    package static let gatewayAskAbove = integer(
        "gateway.ask.above",
        "Above how many phones the portal asks before it sends a message. Before a message to a required subject it always asks.",
        in: 0...1_000_000_000, default: 1_000
    ).changingLive()
}

extension Setting where Value == Seconds {
    package static let messageTTL = seconds(
        "message.ttl", "For how many seconds a message is worth delivering by default; see MSI_ALERT_TTL.",
        in: 60...2_419_200, default: 2_419_200
    ).changingLive()

    package static let gatewayPeopleGrace = seconds(
        "gateway.people.grace",
        "For how many seconds the gateway works with its copies of credentials and of the cube while their services are away.",
        in: 0...86_400, default: 3_600)
}

extension ServiceEntry {
    /// The service of the information cube.
    package static let cube = ServiceEntry(
        "cube", "keeps the information cube: channels, their areas, their subjects.",
        title: "cube service",
        sockets: [.commands, .events],
        // For the audit log.
        uses: [BusUse(service: .people, sockets: [.commands], isNeededAtStart: false)],
        gatewayUses: [.commands, .events],
        keepsData: true,
        stateFiles: ["cube.sqlite"],
        settings: [Setting.cubeSizeLimit.declaration])
}

extension Setting where Value == Int64 {
    /// The upper bound is the size of a cube that fits into one reply (`CubePages`).
    package static let cubeSizeLimit = bytes(
        "cube.size.limit",
        "The maximum size of all channels, areas and subjects together, in bytes of their JSON; larger additions are refused.",
        in: ("1KiB", "12MiB"), default: "8MiB")
}

extension ServiceEntry {
    /// The service of accounts and rights.
    package static let people: ServiceEntry = ServiceEntry(
        "people", "keeps the accounts: who may sign in, and with which rights; students' devices, profiles and friends.",
        title: "people service",
        sockets: [.commands, .events],
        // It logs pushes to persons, and erases persons in the other services.
        uses: withPersonalData.filter { $0 != people }.map {
            BusUse(service: $0, sockets: [.commands], isNeededAtStart: false)
        },
        gatewayUses: [.commands, .events],
        keepsData: true, keepsPersonalData: true,
        stateFiles: ["people.sqlite", "audit-heads.log", "erasures.log"],
        settings: [
            Setting.oidcIssuer.declaration, Setting.oidcClientID.declaration, Setting.oidcClientSecret.declaration,
        ] + (Setting.oidcClientSecret.declaration.file.map { [$0] } ?? []) + [
            Setting.oidcScopes.declaration, Setting.oidcNameClaim.declaration, Setting.oidcRoleClaim.declaration,
            Setting.oidcSuperUsers.declaration, Setting.oidcCommunicators.declaration,
            Setting.oidcSecondFactorClaim.declaration, Setting.oidcSecondFactors.declaration,
        ] + SettingDeclaration.students)
}

extension Setting where Value == String {
    package static let oidcIssuer = Setting(
        "oidc.issuer", "The university's OpenID Connect provider, at which people may sign in; without it there is none.",
        expected: "the provider's issuer, https://HOST/PATH as it writes it; http:// only with a loopback address",
        parse: { isIssuer($0) ? $0 : nil })
    package static let oidcClientID = text(
        "oidc.client.id", "The identifier of this installation at the OpenID Connect provider.", expected: "a client identifier")
    package static let oidcClientSecret = Setting(
        "oidc.client.secret",
        "The secret of this installation at the OpenID Connect provider; without it, it is a public client.",
        expected: "a client secret", isSecret: true
    ) { $0.isEmpty ? nil : $0 }
    package static let oidcNameClaim = text(
        "oidc.name.claim",
        "The claim of the ID token that names a new account. Its people must not be able to choose it: access lists consist of names.",
        expected: "a claim's name, such as sub, preferred_username or email", default: "sub")
    package static let oidcRoleClaim = text(
        "oidc.role.claim",
        "The claim of the ID token with the person's roles; with dots for a field of an inner object, such as realm_access.roles.",
        expected: "a claim's name", default: "roles")

    package static let oidcSecondFactorClaim = text(
        "oidc.second.factor.claim", "The claim of the ID token that says how the person has signed in.",
        expected: "a claim's name, such as amr or acr", default: "amr")

    private static func isIssuer(_ text: String) -> Bool {
        guard !text.contains(where: { $0 == "?" || $0 == "#" || $0.isWhitespace }) else { return false }
        if text.hasPrefix("https://") {
            return HTTPAuthority(text.dropFirst(8).prefix { $0 != "/" }) != nil
        }
        return text.prefixMatch(of: /http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/) != nil
    }
}

extension Setting where Value == [String] {
    package static let oidcScopes = list(
        "oidc.scopes", "The scopes to ask the OpenID Connect provider for.", of: "scopes", default: "openid,profile,email")
    package static let oidcSuperUsers = list(
        "oidc.super.users",
        "The values of the role claim that make a person a super user. If any value makes a role, a person without one is refused.",
        of: "values", default: "")
    package static let oidcCommunicators = list(
        "oidc.communicators", "The values of the role claim that make a person a communicator.", of: "values", default: "")

    package static let oidcSecondFactors = list(
        "oidc.second.factors",
        "The values of that claim with which the provider's second factor replaces the account's own; without values none does.",
        of: "values", default: "")

    static func list(_ key: String, _ summary: String, of what: String, default fallback: String = "") -> Setting {
        Setting(key, summary, expected: "\(what), separated by commas", default: fallback) { items(of: $0) }
    }
}

extension ServiceEntry {
    /// The service of the archive and its outbox.
    package static let messageLog: ServiceEntry = ServiceEntry(
        "message-log", "archives messages, and relays each of them, and each push of another service, until it has ended.",
        title: "message-logging service",
        sockets: [.commands, .events], mayHaveInstances: true,
        uses: [
            BusUse(service: .fcmRelay, sockets: [.commands]),
            BusUse(service: .webpush, sockets: [.commands], isNeededAtStart: false),
            // For the audit log, and for the devices of persons.
            BusUse(service: .people, sockets: [.commands], isNeededAtStart: false),
        ],
        gatewayUses: [.commands, .events],
        keepsData: true, keepsPersonalData: true,
        stateFiles: ["message-log.sqlite", "templates.sqlite", "message-log.id", "message-log.processes"],
        settings: [
            Setting.messageRetention.declaration, Setting.messageLogStorageLimit.declaration,
            Setting.alertFetchDelay.declaration, Setting.fcmFanOutRate.declaration, Setting.fcm.declaration,
            Setting.webPushContact.declaration,
            Setting.fcmTopicPayloadLimit.declaration, Setting.canaryTopic.declaration, Setting.canaryAccount.declaration,
        ])
}

extension Setting where Value == Int {
    package static let messageRetention = integer(
        "message.retention",
        "For how many days ended messages and pushes are kept in the archive; 0 is forever.", in: 0...36_500,
        default: 0
    ).changingLive()

    package static let fcmFanOutRate = integer(
        "fcm.fanout.rate",
        """
        How many deliveries a second FCM makes of messages to topics: while it delivers the pop-ups of Alerts to many phones, the data of \
        messages to many phones waits, for 30 seconds at most; 0: it never waits.
        """, in: 0...1_000_000, default: 10_000
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
        "For how many seconds an Alert waits for FCM, or else for Web Push, before running apps can fetch it from the hub.",
        in: 1...3_600, default: 5
    ).changingLive()
}

extension ServiceEntry {
    /// The service of broadcasts at app launch.
    package static let broadcast = ServiceEntry(
        "broadcast", "keeps broadcasts at app launch and feature switches, and pushes them.",
        title: "broadcast service",
        sockets: [.commands, .events],
        uses: [
            BusUse(service: .messageLog, sockets: [.commands], isNeededAtStart: false),
            // For the audit log.
            BusUse(service: .people, sockets: [.commands], isNeededAtStart: false),
        ],
        gatewayUses: [.commands, .events],
        gatewayNeed: .other,
        keepsData: true,
        stateFiles: ["broadcast.sqlite"],
        settings: [
            Setting.broadcastLanguage.declaration, Setting.broadcastFile.declaration, Setting.fcm.declaration,
            Setting.fcmTopicPayloadLimit.declaration,
        ])
}

extension Setting where Value == String {
    package static let broadcastFile = text(
        "broadcast.file",
        "A file that always has the active broadcasts, for another server that gives it to phones while the hub is away; without it there "
            + "is none.",
        expected: "a file in a folder that exists")
    package static let broadcastLanguage = Setting(
        "broadcast.language",
        "The default language of broadcasts: each must have texts in it, which phones of other languages show.",
        expected: "a language tag such as en, hi or pt-BR", default: "en"
    ) { LanguageTag($0) == nil ? nil : $0 }
}

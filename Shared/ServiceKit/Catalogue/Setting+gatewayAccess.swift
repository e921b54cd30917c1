// The settings of the gateway that say who reaches it, and how much they may ask for. GatewayAccess checks the first ones
// against each other.

extension SettingDeclaration {
    static let gatewayAccess: [SettingDeclaration] = [
        Setting.gatewayHost.declaration, Setting.gatewayTLSCertificateFile.declaration, Setting.gatewayTLSKeyFile.declaration,
        Setting.gatewayTrustedProxies.declaration, Setting.gatewayPublicURL.declaration, Setting.gatewayCORSOrigins.declaration,
        Setting.gatewayMaxConnections.declaration, Setting.gatewayMaxConnectionsPerAddress.declaration,
        Setting.gatewayAccountRequests.declaration, Setting.gatewayAddressRequests.declaration,
    ]
}

extension Setting where Value == IPAddress {
    package static let gatewayHost = Setting(
        "gateway.host",
        "The address at which the gateway listens; 0.0.0.0 for all. One that is not loopback needs TLS or a trusted proxy.",
        expected: "an IP address", default: "127.0.0.1"
    ) { IPAddress($0) }
}

extension Setting where Value == [IPNetwork] {
    package static let gatewayTrustedProxies = Setting(
        "gateway.trusted.proxies",
        "The proxies before the gateway, whose X-Forwarded-For and X-Forwarded-Proto, or Forwarded, it believes: every machine of a "
            + "network could pretend to be any client.",
        expected: "IP addresses such as 10.0.0.5, or networks, separated by commas", default: ""
    ) { text in
        let networks = Setting<[String]>.items(of: text).map { IPNetwork($0) }
        return networks.contains(nil) ? nil : networks.compactMap(\.self)
    }
}

extension Setting where Value == String {
    package static let gatewayTLSCertificateFile = text(
        "gateway.tls.certificate.file",
        "A file with the gateway's TLS certificate and the intermediate ones (PEM). The gateway reads it again when it changes.",
        expected: "a file")
    package static let gatewayTLSKeyFile = secretFile(
        "gateway.tls.key.file", "A file with the private key of the gateway's TLS certificate (PEM, unencrypted).")
    package static let gatewayPublicURL = Setting(
        "gateway.public.url", "The address by which clients reach the gateway.",
        expected: "an https:// URL in lower case and without a path, such as https://hub.example.edu"
    ) { $0 == $0.lowercased() && isHTTPSOrigin($0) ? $0 : nil }
}

extension Setting where Value == [String] {
    package static let gatewayCORSOrigins = Setting(
        "gateway.cors.origins", "Further origins whose pages may call the gateway from a browser.",
        expected: "origins such as https://portal.example.edu, in lower case and without a path, separated by commas", default: ""
    ) { text in
        let origins = items(of: text)
        return origins.allSatisfy(isBrowserOrigin) ? origins : nil
    }
}

extension Setting where Value == Int {
    package static let gatewayMaxConnections = integer(
        "gateway.max.connections",
        "The maximum number of HTTP connections. Half of them may be streams of events. When there is no room for another connection, the gateway closes "
            + "one that waits for its client; if there is none, it answers 503, except to GET /health.",
        in: 1...100_000, default: 4_000)
    package static let gatewayMaxConnectionsPerAddress = integer(
        "gateway.max.connections.per.address",
        "The maximum number of HTTP connections of one client address; on further ones the gateway answers 429.",
        in: 1...100_000, default: 2_000)
    package static let gatewayAccountRequests = integer(
        "gateway.account.requests",
        "The number of requests a minute that an account may make. The operator's token has no limit.",
        in: 1...1_000_000_000, default: 600
    ).changingLive()
    package static let gatewayAddressRequests = integer(
        "gateway.address.requests",
        "The number of requests a minute without a sign-in from one client address, which a whole campus may share.",
        in: 1...1_000_000_000, default: 60_000
    ).changingLive()
}

/// Where the gateway listens, and how clients reach it. `msi up` and the gateway read it from the same settings.
package struct GatewayAccess: Sendable {
    /// The address at which the gateway listens.
    package let host: IPAddress
    /// The files of its TLS certificate; `nil` if it speaks plain HTTP.
    package let certificate: CertificateFiles?
    /// Proxies whose `X-Forwarded-For` or `Forwarded` header is trusted.
    package let trustedProxies: [IPNetwork]
    /// The origin by which clients reach the gateway, such as `https://hub.example.edu`; `nil` if it serves only this machine.
    package let publicURL: String?

    /// The paths of a certificate and its private key.
    package struct CertificateFiles: Hashable, Sendable {
        package let certificate: String
        package let key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    package init(
        host: IPAddress, certificate: CertificateFiles? = nil, trustedProxies: [IPNetwork] = [], publicURL: String? = nil
    ) {
        self.host = host
        self.certificate = certificate
        self.trustedProxies = trustedProxies
        self.publicURL = publicURL
    }

    /// - Parameter passed: The address of a socket that the service manager has opened, instead of the setting.
    /// - Throws: ``ConfigurationError`` if other machines can reach the gateway without encryption, or would be refused.
    package init(_ settings: SettingValues, passed: IPAddress? = nil) throws {
        let certificate = try settings.optional(.gatewayTLSCertificateFile)
        let key = try settings.optional(.gatewayTLSKeyFile)
        self.init(
            host: try passed ?? settings.value(.gatewayHost), certificate: try Self.files(certificate: certificate, key: key),
            trustedProxies: try settings.value(.gatewayTrustedProxies), publicURL: try settings.optional(.gatewayPublicURL))
        guard !host.isLoopback else { return }
        var missing: [String] = []
        if self.certificate == nil, trustedProxies.isEmpty {
            missing.append(
                "either TLS (\(Setting.gatewayTLSCertificateFile.declaration.name) and \(Setting.gatewayTLSKeyFile.declaration.name)) "
                    + "or the proxy that does TLS (\(Setting.gatewayTrustedProxies.declaration.name))")
        }
        if publicURL == nil {
            missing.append("the address that clients use (\(Setting.gatewayPublicURL.declaration.name))")
        }
        guard missing.isEmpty else {
            throw ConfigurationError(
                "\(passed == nil ? Setting.gatewayHost.declaration.name : "the service manager's socket"): \(host) is not a loopback address, so the gateway needs "
                    + missing.joined(separator: ", and "))
        }
    }

    /// Whether a peer is a trusted proxy.
    package func trusts(_ peer: IPAddress) -> Bool {
        trustedProxies.contains { $0.contains(peer) }
    }

    /// `http` or `https`.
    package var scheme: String { certificate == nil ? "http" : "https" }

    /// The gateway's URL for clients on its own machine.
    package func localURL(port: Int) -> String {
        "\(scheme)://\(host.isWildcard ? "127.0.0.1" : host.host):\(port)"
    }

    private static func files(certificate: String?, key: String?) throws -> CertificateFiles? {
        switch (certificate, key) {
        case (let certificate?, let key?): return CertificateFiles(certificate: certificate, key: key)
        case (nil, nil): return nil
        case (_?, nil): throw lone(.gatewayTLSCertificateFile, needs: .gatewayTLSKeyFile)
        case (nil, _?): throw lone(.gatewayTLSKeyFile, needs: .gatewayTLSCertificateFile)
        }
    }

    private static func lone(_ given: Setting<String>, needs other: Setting<String>) -> ConfigurationError {
        ConfigurationError("\(given.declaration.name) is set without \(other.declaration.name); TLS needs both")
    }
}

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

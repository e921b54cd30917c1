/// Where the gateway listens, and how clients reach it. `msi up` and the gateway read it from the same settings.
package struct GatewayAccess: Sendable {
    /// The address at which the gateway listens.
    package let host: IPAddress
    /// The files of its TLS certificate; `nil` if it speaks plain HTTP.
    package let certificate: CertificateFiles?
    /// The proxies whose word about a client's address counts.
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
    /// - Throws: ``ConfigurationError`` if other machines can reach the gateway and nothing encrypts their connections, or if they
    ///   would not be accepted.
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

    /// Whether the word of a peer about its client counts.
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

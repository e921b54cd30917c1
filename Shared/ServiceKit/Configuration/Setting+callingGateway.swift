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

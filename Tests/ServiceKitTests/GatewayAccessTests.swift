import Testing

@testable import ServiceKit

@Suite("The gateway's settings for clients on other machines")
struct GatewayAccessTests {
    private static let tls = ["MSI_GATEWAY_TLS_CERTIFICATE_FILE": "/c.pem", "MSI_GATEWAY_TLS_KEY_FILE": "/k.pem"]
    private static let url = ["MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu"]

    private func access(_ settings: [String: String]...) async throws -> GatewayAccess {
        let environment = settings.reduce(into: [:]) { $0.merge($1) { $1 } }
        return try GatewayAccess(try await SettingValues(arguments: [], environment: environment, accepted: []))
    }

    @Test("Without settings the gateway is open to its own machine, and needs nothing else")
    func loopback() async throws {
        let access = try await access()
        #expect(access.host.isLoopback && access.scheme == "http" && access.localURL(port: 80) == "http://127.0.0.1:80")
        #expect(try await self.access(["MSI_GATEWAY_HOST": "::1"]).localURL(port: 80) == "http://[::1]:80")
    }

    @Test(
        "At another address the gateway refuses to start until it has TLS or a trusted proxy, and a public URL",
        arguments: [
            ([:], ["MSI_GATEWAY_TLS_CERTIFICATE_FILE", "MSI_GATEWAY_TRUSTED_PROXIES", "MSI_GATEWAY_PUBLIC_URL"]),
            (tls, ["MSI_GATEWAY_PUBLIC_URL"]),
            (url, ["MSI_GATEWAY_TLS_CERTIFICATE_FILE", "MSI_GATEWAY_TLS_KEY_FILE", "MSI_GATEWAY_TRUSTED_PROXIES"]),
        ])
    func refused(settings: [String: String], missing: [String]) async throws {
        let error = try await #require(throws: ConfigurationError.self) {
            try await access(["MSI_GATEWAY_HOST": "0.0.0.0"], settings)
        }
        for name in missing + ["MSI_GATEWAY_HOST"] { #expect("\(error)".contains(name), "\(error)") }
    }

    @Test("With TLS or a trusted proxy, and a public URL, it starts")
    func accepted() async throws {
        let host = ["MSI_GATEWAY_HOST": "0.0.0.0"]
        let own = try await access(host, Self.tls, Self.url)
        #expect(own.localURL(port: 443) == "https://127.0.0.1:443")
        let behindProxy = try await access(host, Self.url, ["MSI_GATEWAY_TRUSTED_PROXIES": "10.0.0.0/8, ::1"])
        #expect(behindProxy.scheme == "http")
        for (address, isTrusted) in [("10.9.8.7", true), ("::1", true), ("11.0.0.1", false)] {
            #expect(behindProxy.trusts(try #require(IPAddress(address))) == isTrusted, "\(address)")
        }
    }

    @Test(
        "A bad value names its setting",
        arguments: [
            ("MSI_GATEWAY_HOST", "hub.example.edu"), ("MSI_GATEWAY_TRUSTED_PROXIES", "10.0.0.0/8,proxy"),
            ("MSI_GATEWAY_PUBLIC_URL", "http://hub.example.edu"), ("MSI_GATEWAY_PUBLIC_URL", "https://hub.example.edu/x"),
            ("MSI_GATEWAY_PUBLIC_URL", "https://Hub.example.edu"), ("MSI_GATEWAY_TLS_KEY_FILE", "/k.pem"),
            ("MSI_GATEWAY_TLS_CERTIFICATE_FILE", "/c.pem"),
        ])
    func bad(name: String, value: String) async throws {
        let error = try await #require(throws: ConfigurationError.self) { try await access([name: value]) }
        #expect("\(error)".hasPrefix(name), "\(error)")
    }
}

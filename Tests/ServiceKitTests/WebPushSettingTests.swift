import ServiceKit
import Testing

/// The settings that switch FCM and Web Push on and off.
@Suite("Settings of FCM and Web Push")
struct WebPushSettingTests {
    private func values(_ environment: [String: String]) async throws -> SettingValues {
        try await SettingValues(arguments: [], environment: environment, accepted: SettingDeclaration.all)
    }

    @Test("Without a contact, and with off, Web Push is off; FCM is on unless it is switched off")
    func switches() async throws {
        let none = try await values([:])
        #expect(try none.webPushContact == nil && none.usesFCM)
        #expect(try !none.includes(.webpush) && none.includes(.fcmRelay) && none.includes(.gateway))
        #expect(try await values(["MSI_WEBPUSH_CONTACT": "off"]).webPushContact == nil)
        let webpush = try await values(["MSI_WEBPUSH_CONTACT": "mailto:it@example.org", "MSI_FCM": "off"])
        #expect(try webpush.webPushContact == "mailto:it@example.org" && !webpush.usesFCM)
        #expect(try webpush.includes(.webpush) && !webpush.includes(.fcmRelay) && !webpush.includes(.fcmEmulator))
    }

    @Test("A contact is an address of mail or of a page")
    func contacts() async throws {
        for right in ["mailto:it@example.org", "https://example.org/contact", "https://example.org"] {
            #expect(try await values(["MSI_WEBPUSH_CONTACT": right]).webPushContact == right)
        }
        for wrong in ["", "it@example.org", "mailto:", "mailto:it", "mailto:a@b,c@d", "http://example.org", "https://", "on"] {
            let settings = try await values(["MSI_WEBPUSH_CONTACT": wrong])
            #expect(throws: ConfigurationError.self, "\(wrong)") { try settings.webPushContact }
        }
        let settings = try await values(["MSI_FCM": "no"])
        #expect(throws: ConfigurationError.self) { try settings.usesFCM }
    }

    @Test("Further push services are hosts, all hosts below a domain, or servers of the own network")
    func hosts() async throws {
        let right = [
            "push.example.org", "push.example.org:8443", ".example.org", "https://10.0.0.5:8443", "http://127.0.0.1:9000",
        ]
        let settings = try await values(["MSI_WEBPUSH_HOSTS": right.joined(separator: ", ")])
        #expect(try settings.value(.webPushHosts) == right)
        #expect(try await values([:]).value(.webPushHosts) == [])
        let withSlash = try await values(["MSI_WEBPUSH_HOSTS": "http://127.0.0.1:9000/, https://10.0.0.5/"])
        #expect(try withSlash.value(.webPushHosts) == ["http://127.0.0.1:9000", "https://10.0.0.5"])
        for (wrong, reason) in [
            ("push.example.org/path", "expected a host"), ("http://push.example.org", "only for loopback addresses"),
            ("http://10.1.2.3:80", "only for loopback addresses"), ("http://127.0.0.1:9000/path", "without a path"),
            ("https://10.0.0.5/path", "without a path"), ("127.0.0.1:9000", "only as a URL: http://127.0.0.1:9000"),
            ("localhost:9000", "only as a URL"), ("10.1.2.3:8443", "only as a URL: https://10.1.2.3:8443"),
            ("a b", "expected a host"), (".", "expected a host"), ("https://", "expected https://"),
            ("user@host", "expected a host"),
        ] {
            let settings = try await values(["MSI_WEBPUSH_HOSTS": "push.example.org,\(wrong)"])
            let error = #expect(throws: ConfigurationError.self, "\(wrong)") { try settings.value(.webPushHosts) }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("\"\(wrong)\"") && text.contains(reason), "\(wrong): \(text)")
        }
    }
}

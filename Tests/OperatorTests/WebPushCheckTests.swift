import Base
import Schemas
import ServiceKit
import Testing

@testable import Operator

/// What `msi doctor` says about Web Push, and about what is switched off.
@Suite("Doctor's check of Web Push")
struct WebPushCheckTests {
    private static let now = UnixMilliseconds(rawValue: 1_800_000_000_000)

    private func settings(_ environment: [String: String]) async throws -> SettingValues {
        try await SettingValues(arguments: [], environment: environment, accepted: [])
    }

    private func findings(_ environment: [String: String]) async throws -> [Finding] {
        let values = try await settings(environment)
        let installation = Installation(executables: "/nowhere", environment: environment, isRoot: false)
        return try await WebPushCheck(
            installation: installation, settings: values, services: [], stopped: [], connects: false
        ).findings()
    }

    @Test("One of FCM and Web Push may be switched off, and both are a failure")
    func transports() async throws {
        let contact = ["MSI_WEBPUSH_CONTACT": "mailto:hub@uni.example"]
        #expect(try await findings(contact).allSatisfy { $0.level == .ok })
        let without = try await findings(contact.merging(["MSI_FCM": "off"]) { $1 })
        #expect(!without.isEmpty && without.allSatisfy { $0.level == .ok && !$0.found.contains("FCM") })
        #expect(try await findings([:]).map(\.level) == [.ok])
        #expect(try await findings(["MSI_WEBPUSH_CONTACT": "off"]).first?.found.contains("MSI_WEBPUSH_CONTACT") == true)
        let neither = try await findings(["MSI_FCM": "off"])
        #expect(neither.map(\.level) == [.failure] && neither.first?.advice?.contains("MSI_FCM=on") == true)
    }

    @Test(
        "A contact that reaches nobody is a warning, except for the contact of msi up",
        arguments: [
            ("mailto:webpush@example.org", true), ("https://hub.example.com/contact", true), ("mailto:admin@localhost", true),
            ("mailto:it@hub.test", true), ("mailto:hub@uni.edu", false), ("https://uni.edu:8443/hub", false),
            ("mailto:a@myexample.org", false),
        ])
    func contact(_ contact: String, reachesNobody: Bool) {
        #expect(WebPushCheck.finding(about: contact, isOfUp: false).level == (reachesNobody ? .warning : .ok))
        #expect(WebPushCheck.finding(about: contact, isOfUp: true).level == .ok)
    }

    @Test("A key is a point of 65 bytes")
    func key() {
        let key = "B" + String(repeating: "a", count: 86)
        #expect(WebPushCheck.finding(about: ReadWebPushKey.Reply(key: key)).level == .ok)
        for wrong in ["", "A" + key.dropFirst(), key + "a", String(key.dropLast())] {
            #expect(WebPushCheck.finding(about: ReadWebPushKey.Reply(key: wrong)).level == .failure)
        }
    }

    @Test("Each push service has its last answer; one that refuses the hub is a failure, one that does not take pushes a warning")
    func services() {
        func state(_ stopped: String?, _ error: String?) -> PushServiceState {
            PushServiceState(
                host: "web.push.apple.com", subscriptions: 7, waiting: 2, stopped: stopped,
                lastAnswer: PushServiceAnswer(at: Self.now - .seconds(60), error: error))
        }
        let cases: [(PushServiceState, Finding.Level, String)] = [
            (state(nil, nil), .ok, "of 60 s ago, has accepted a push"),
            (state(nil, "HTTP_429: too many"), .ok, "is HTTP_429"),
            (state(nil, "NETWORK: Could not resolve host"), .warning, "is NETWORK"),
            (state(nil, "HTTP_503: later"), .warning, "7 subscriptions: the last answer"),
            (state(nil, "HTTP_403: BadJwtToken"), .warning, "is HTTP_403"),
            (state("it has failed many times in a row", "TIMEOUT: no answer"), .warning, "nothing is sent to it"),
            (state("it refuses", "HTTP_403: BadJwtToken"), .failure, "HTTP_403: BadJwtToken"),
            (PushServiceState(host: "h", subscriptions: 1, waiting: 0, stopped: nil), .ok, "h, 1 subscription: nothing is known"),
        ]
        for (service, level, text) in cases {
            let counts = SubscriptionCounts(subscriptions: 9, proven: 8, hosts: [service])
            let findings = WebPushCheck.findings(about: counts, now: Self.now)
            #expect(findings.first?.found.hasPrefix("9 browsers have subscribed, 8 of them") == true)
            #expect(findings.count == 2 && findings[1].level == level && findings[1].found.contains(text), "\(findings)")
        }
        let one = SubscriptionCounts(subscriptions: 1, proven: 1, hosts: [])
        #expect(WebPushCheck.findings(about: one, now: Self.now).first?.found.hasPrefix("1 browser has subscribed, 1 of") == true)
        let many = SubscriptionCounts(
            subscriptions: 30, proven: 30,
            hosts: (0..<30).map { PushServiceState(host: "\($0)", subscriptions: 1, waiting: 0, stopped: nil) })
        #expect(
            WebPushCheck.findings(about: many, now: Self.now).last?.found == "and 10 more push services: msi webpush lists all")
    }

    @Test("The doctor connects to each push service once, and to an operator's origin as it is written")
    func addresses() {
        let found = WebPushCheck.addresses(
            named: ["push.example.edu:8443", ".example.org", "http://127.0.0.1:9000"],
            used: ["fcm.googleapis.com", "127.0.0.1:9000", "wns2-am3p.notify.windows.com"])
        #expect(Set(found).count == found.count && found.count(where: { $0.hasSuffix("fcm.googleapis.com") }) == 1)
        for address in ["https://push.example.edu:8443", "http://127.0.0.1:9000", "https://wns2-am3p.notify.windows.com"] {
            #expect(found.contains(address))
        }
        #expect(!found.contains { $0.contains("example.org") || $0 == "https://127.0.0.1:9000" })
    }

    @Test("What is switched off is not checked, and msi up's own contact switches Web Push on in a build")
    func switchedOff() async throws {
        let installation = Installation(executables: "/nowhere", environment: [:], isRoot: false)
        let own = try installation.withSettingsOfUp(try await settings([:]))
        #expect(own.environment["MSI_WEBPUSH_CONTACT"] == "mailto:webpush@example.org")
        let off = try installation.withSettingsOfUp(try await settings(["MSI_WEBPUSH_CONTACT": "off"]))
        #expect(off.environment["MSI_WEBPUSH_CONTACT"] == nil)
        let values = try await settings(["MSI_FCM": "off", "MSI_WEBPUSH_CONTACT": "off"])
        for service in [ServiceEntry.fcmRelay, .fcmEmulator, .webpush] { #expect(try !values.includes(service)) }
        #expect(try values.includes(.messageLog))
    }
}

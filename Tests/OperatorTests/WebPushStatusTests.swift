import Base
import FoundationEssentials
import Schemas
import ServiceKit
import Testing

@testable import Operator

/// What `msi status` and `msi webpush` say about the subscriptions of browsers.
@Suite("Subscriptions in the status")
struct WebPushStatusTests {
    private static let now = UnixMilliseconds(rawValue: 1_763_712_000_000)

    private static let counts = SubscriptionCounts(
        subscriptions: 120, proven: 118,
        hosts: [
            PushServiceState(
                host: "fcm.googleapis.com", subscriptions: 119, waiting: 0, stopped: nil,
                lastAnswer: PushServiceAnswer(at: now - .seconds(30), error: nil)),
            PushServiceState(
                host: "web.push.apple.com", subscriptions: 1, waiting: 4, stopped: "it has failed many times in a row",
                lastAnswer: PushServiceAnswer(at: now - .seconds(300), error: "HTTP_503: later")),
        ])

    private func health(_ parts: String) throws -> ProductStatus.Health {
        let json = """
            {"status":"ok","services":{"message-log":"ok"},"versions":{},"parts":{"message-log":\(parts)},"copies":{}}
            """
        return try JSONCoder.decode(ProductStatus.Health.self, from: Data(json.utf8))
    }

    private func status(_ webPush: WebPushState) throws -> ProductStatus {
        ProductStatus(
            gateway: "http://h", health: try health("{}"), places: [], canary: .notSetUp,
            messages: .failure(GatewayFailure(.notAllowed, "no right")), token: .usable, webPush: webPush, at: Self.now)
    }

    @Test("msi webpush says that Web Push is switched off, unless the setting may be that of msi up alone")
    func switchedOff() async throws {
        func reason(_ environment: [String: String]) async throws -> String? {
            try ListPushServicesCommand.switchedOff(
                by: try await SettingValues(arguments: [], environment: environment, accepted: []))
        }
        #expect(try await reason(["MSI_WEBPUSH_CONTACT": "off"]) == "Web Push is switched off (MSI_WEBPUSH_CONTACT=off)")
        #expect(try await reason([:]) == nil)
        #expect(try await reason(["MSI_WEBPUSH_CONTACT": "mailto:it@example.org"]) == nil)
    }

    @Test("Each push service has a line with its subscriptions, what waits, and its last answer")
    func lines() throws {
        let text = StatusText(status: try status(.known(Self.counts))).description
        let lines = text.split(separator: "\n").suffix(3).map(String.init)
        #expect(
            lines == [
                "Web Push: 120 subscriptions, 118 of them proven",
                "  fcm.googleapis.com: 119 subscriptions; the last answer, of 30 s ago: accepted",
                "  web.push.apple.com: 1 subscription; 4 pushes wait; nothing is sent: it has failed many times in a row; "
                    + "the last answer, of 5 min ago: HTTP_503: later",
            ], "\(text)")
        let json = try JSONValue(parsing: try JSONCoder.encode(try status(.known(Self.counts))))
        #expect(json["web_push"]?["proven"] == 118 && json["status"] == "ok")
    }

    @Test("Switched off, nothing speaks of it; a service that does not answer leaves the status as it is")
    func others() async throws {
        let off = try status(.off)
        #expect(!StatusText(status: off).description.contains("Web Push"))
        #expect(!String(decoding: try JSONCoder.encode(off), as: UTF8.self).contains("web_push"))
        let unknown = try status(.unknown(problem: "it does not answer"))
        #expect(StatusText(status: unknown).description.contains("Web Push: the subscriptions are not known: it does not answer"))
        #expect(unknown.status == .ok)
        let settings = try await SettingValues(arguments: [], environment: [:], accepted: [])
        let withoutPart = await WebPushState.read(settings, try health(#"{"relay":{"status":"ok"}}"#))
        #expect(withoutPart.lines(at: Self.now).isEmpty)
    }
}

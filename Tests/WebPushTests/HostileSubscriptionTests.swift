import Bus
import Crypto
import FoundationEssentials
import Base
import Schemas
import Store
import TestSupport
import Testing
import WebPushKeys
import WebPushStore

@testable import WebPush

/// Subscriptions that strangers make up.
@Suite("Hostile subscriptions", .timeLimit(.minutes(10)))
struct HostileSubscriptionTests {
    struct Hostile: Sendable, CustomTestStringConvertible {
        let what: String
        var endpoint = "https://fcm.googleapis.com/fcm/send/abc"
        var p256dh = Browser().p256dh
        var auth = Browser().auth.base64URL
        var app: String? = "https://hub.example.edu/app/"
        var language: String?
        /// The answer of the push service.
        var failure: WebPushFailure?
        var field = "endpoint"
        /// A part of the reason.
        let reason: String

        var testDescription: String { what }
    }

    private static let otherCurve = P384.KeyAgreement.PrivateKey().publicKey.x963Representation
    private static let compressed = P256.KeyAgreement.PrivateKey().publicKey.compressedRepresentation
    private static let besideTheCurve = Data([4] + [UInt8](repeating: 1, count: 64))

    static let all: [Hostile] = [
        // Schemes and forms.
        Hostile(what: "without TLS", endpoint: "http://fcm.googleapis.com/a", reason: "https://"),
        Hostile(what: "a file", endpoint: "file:///etc/passwd", reason: "https://"),
        Hostile(what: "another scheme", endpoint: "gopher://fcm.googleapis.com/a", reason: "https://"),
        Hostile(what: "a scheme in capitals", endpoint: "HTTPS://fcm.googleapis.com/a", reason: "https://"),
        Hostile(what: "no scheme", endpoint: "//fcm.googleapis.com/a", reason: "https://"),
        Hostile(what: "a user", endpoint: "https://fcm.googleapis.com@evil.example/a", reason: "user name"),
        Hostile(what: "a backslash", endpoint: #"https://fcm.googleapis.com\@evil.example/a"#, reason: "characters of a URL"),
        Hostile(what: "a line end", endpoint: "https://fcm.googleapis.com/a\r\nX-Evil: 1", reason: "characters of a URL"),
        Hostile(what: "a zero", endpoint: "https://fcm.googleapis.com/a\0", reason: "without the character U+0000"),
        Hostile(what: "a letter beyond ASCII", endpoint: "https://fcm.googleapis.cöm/a", reason: "characters of a URL"),
        Hostile(what: "a fragment", endpoint: "https://fcm.googleapis.com/a#b", reason: "fragment"),
        Hostile(what: "no path", endpoint: "https://fcm.googleapis.com", reason: "path"),
        Hostile(what: "an empty path", endpoint: "https://fcm.googleapis.com/", reason: "path"),
        Hostile(
            what: "an oversized URL", endpoint: "https://fcm.googleapis.com/" + String(repeating: "a", count: 2_048),
            reason: "at most 2048 characters"),
        // Hosts.
        Hostile(what: "an unknown host", endpoint: "https://push.evil.example/a", reason: "no known push service"),
        Hostile(
            what: "a host that begins like a known one", endpoint: "https://fcm.googleapis.com.evil.example/a", reason: "no known"
        ),
        Hostile(what: "a host that ends like a known one", endpoint: "https://evilpush.apple.com.example/a", reason: "no known"),
        Hostile(what: "a suffix without its dot", endpoint: "https://evilnotify.windows.com/a", reason: "no known"),
        Hostile(what: "the bare suffix", endpoint: "https://push.apple.com/a", reason: "no known"),
        Hostile(what: "an empty label", endpoint: "https://evil..push.apple.com/a", reason: "name of a host"),
        Hostile(what: "a dot at the end", endpoint: "https://fcm.googleapis.com./a", reason: "no known"),
        Hostile(what: "an encoded dot", endpoint: "https://fcm%2egoogleapis.com/a", reason: "name of a host"),
        Hostile(what: "another port", endpoint: "https://fcm.googleapis.com:22/a", reason: "default port"),
        Hostile(what: "a port that is none", endpoint: "https://fcm.googleapis.com:99999/a", reason: "name of a host"),
        Hostile(what: "this machine", endpoint: "https://localhost/a", reason: "no known"),
        Hostile(what: "this machine's address", endpoint: "https://127.0.0.1/a", reason: "found an address"),
        Hostile(what: "a private address", endpoint: "https://10.0.0.1:8443/a", reason: "found an address"),
        Hostile(what: "a provider's metadata", endpoint: "https://169.254.169.254/latest/meta-data", reason: "found an address"),
        Hostile(what: "an IPv6 address", endpoint: "https://[::1]/a", reason: "found an address"),
        Hostile(what: "an IPv4 address in IPv6", endpoint: "https://[::ffff:10.0.0.1]/a", reason: "found an address"),
        Hostile(what: "an address as a number", endpoint: "https://2130706433/a", reason: "no known"),
        // What the first push finds out.
        Hostile(
            what: "a host with a private address",
            failure: WebPushFailure(
                DeliveryError(class: .retryable, code: "REFUSED_ADDRESS", message: "the address 10.0.0.1 is not public")),
            reason: "10.0.0.1"),
        Hostile(
            what: "a redirect",
            failure: WebPushFailure(
                DeliveryError(
                    class: .permanent, code: "HTTP_302", message: "the push service redirects the push, which is not followed")),
            reason: "redirects"),
        Hostile(
            what: "an endpoint that was made up",
            failure: WebPushFailure(DeliveryError(.unregistered, "the subscription has ended"), .gone), reason: "has ended"),
        Hostile(
            what: "an endpoint of another hub",
            failure: WebPushFailure(
                DeliveryError(class: .permanent, code: "HTTP_403", message: "the push service refuses the push with 403"),
                .unusable),
            reason: "403"),
        // Keys.
        Hostile(what: "a point beside the curve", p256dh: besideTheCurve.base64URL, field: "p256dh", reason: "on the curve"),
        Hostile(what: "a point of another curve", p256dh: otherCurve.base64URL, field: "p256dh", reason: "65 bytes, found 97"),
        Hostile(what: "a compressed point", p256dh: compressed.base64URL, field: "p256dh", reason: "65 bytes, found 33"),
        Hostile(what: "a key of zeros", p256dh: Data(count: 65).base64URL, field: "p256dh", reason: "begins with the byte 4"),
        Hostile(
            what: "a point of zeros", p256dh: (Data([4]) + Data(count: 64)).base64URL, field: "p256dh", reason: "on the curve"),
        Hostile(what: "no key", p256dh: "", field: "p256dh", reason: "not empty"),
        Hostile(what: "a key that is not Base64", p256dh: "%%%%", field: "p256dh", reason: "Base64"),
        Hostile(what: "an oversized key", p256dh: String(repeating: "A", count: 10_000), field: "p256dh", reason: "at most 200"),
        Hostile(what: "a secret of zeros", auth: Data(count: 16).base64URL, field: "auth", reason: "only zeros"),
        Hostile(what: "a short secret", auth: Data([1, 2, 3]).base64URL, field: "auth", reason: "16 bytes, found 3"),
        Hostile(what: "a secret that is not Base64", auth: "????", field: "auth", reason: "Base64"),
        // The rest.
        Hostile(what: "an app's URL with a script", app: "javascript:alert(1)", field: "app", reason: "https://"),
        Hostile(what: "a language that is none", language: "klingon", field: "language", reason: "language tag"),
    ]

    @Test("Each is refused with its field and a reason, and leaves nothing behind", arguments: all)
    func refused(hostile: Hostile) async throws {
        try await withWebPush { service, sender in
            sender.answer { _ in hostile.failure.map { .failure($0) } ?? .success("https://push.example/m/1") }
            let command = AddSubscription(
                endpoint: Secret(hostile.endpoint), p256dh: hostile.p256dh, auth: Secret(hostile.auth),
                subjects: SubscribedSubjects(alerts: [], information: []), language: hostile.language, app: hostile.app)
            let (field, reason) = await Self.refusal(of: command, by: service)
            #expect(field == hostile.field, "\(reason)")
            #expect(reason.contains(hostile.reason), "\(reason)")
            #expect(!reason.contains(hostile.auth), "the secret is in the reason")
            #expect(hostile.failure != nil || sender.requests.isEmpty, "a push went out")
            #expect(service.subscriptions.tally.count.subscriptions == 0)
            let store = service.subscriptions.store
            let subscriptions = try await store.page(of: WebPushStore.subscriptions, limit: 1).documents
            let subjects = try await store.page(of: WebPushStore.subjects, limit: 1).documents
            #expect(subscriptions.isEmpty && subjects.isEmpty)
        }
    }

    /// The field and the reason, through the JSON of the command.
    private static func refusal(of command: AddSubscription, by service: WebPush) async -> (field: String?, reason: String) {
        do {
            let read = try AddSubscription(payload: command.payload())
            _ = try await service.add(read, .sample())
            return (nil, "it was taken")
        } catch let violation as SchemaViolation {
            return (violation.field, violation.problem)
        } catch {
            return ((error as? CommandFailure)?.field, "\(error)")
        }
    }

    @Test(
        "Subscriptions of the known push services are taken",
        arguments: [
            "https://fcm.googleapis.com/fcm/send/dJ5:APA91b", "https://updates.push.services.mozilla.com/wpush/v2/gAAAAAB",
            "https://web.push.apple.com/QGuQ", "https://wns2-par02p.notify.windows.com/w/?token=BQYAAAB%2b",
            "https://FCM.googleapis.com:443/fcm/send/abc",
        ])
    func known(endpoint: String) async throws {
        try await withWebPush { service, sender in
            let reply = try await service.add(Browser().subscription(at: endpoint), .sample())
            #expect(reply.secret.text.count == 43)
            #expect(sender.requests.map(\.url) == [endpoint] && sender.requests.map(\.isProven) == [false])
        }
    }

    @Test("The operator's hosts are taken with their port, and only origins may have any address")
    func operators() throws {
        let hosts = try PushHosts(operators: [
            "push.example.edu", "up.example.edu:8443", ".up.example.org", "https://10.1.2.3:8443", "http://127.0.0.1:8081",
        ])
        func endpoint(_ url: String) throws -> PushEndpoint { try PushEndpoint(url, allowed: hosts) }
        for url in ["https://push.example.edu/a", "https://up.example.edu:8443/a", "https://a.b.up.example.org/a"] {
            #expect(try !endpoint(url).isOperatorsOrigin)
        }
        #expect(try endpoint("https://10.1.2.3:8443/a").isOperatorsOrigin)
        let local = try endpoint("http://127.0.0.1:8081/wpush/1")
        #expect(local.isOperatorsOrigin && local.origin == "http://127.0.0.1:8081" && local.host == "127.0.0.1:8081")
        #expect(try endpoint("https://push.example.edu:443/a").origin == "https://push.example.edu")
        for url in [
            "https://push.example.edu:8443/a", "https://up.example.edu/a", "https://up.example.org/a",
            "http://push.example.edu/a",
            "https://10.1.2.3/a", "https://10.1.2.4:8443/a", "http://10.1.2.3:8443/a", "http://127.0.0.1:8082/a",
            "https://127.0.0.1:8081/a",
        ] {
            #expect(throws: SchemaViolation.self, "\(url)") { try endpoint(url) }
        }
        for setting in ["http://push.example.edu", "https://user@host", "a b", ".", "https://", "host:port"] {
            #expect(throws: (any Error).self, "\(setting)") { try PushHosts(operators: [setting]) }
        }
    }
}

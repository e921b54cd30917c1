import Base
import Bus
import Foundation
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The subscriptions of browsers over HTTP, with a Web Push service that a test makes up.
@Suite("Web Push over HTTP", .timeLimit(.minutes(10)))
struct WebPushOverHTTPTests {
    private static let topic = "6b0187feff0dafac2833f429-6b0187feff0dafac2833f430-6b0187feff0dafac2833f431"
    private static let id = "6b0187feff0dafac2833f432"
    private static let secret = "q0sT7wZ1bN4dF6gJ8hL5rE2uC9aVxQM"
    private static let settings = ["MSI_WEBPUSH_CONTACT": "mailto:it@example.edu"]
    private static let path = "/app/push/subscriptions"
    private static let one = path + "/" + id
    private static let bearer = ["Authorization": "Bearer " + secret]
    private static let subjects = #""alerts":["\#(topic)"],"information":[]"#
    private static let browser = #""endpoint":"https://push.example.net/1","keys":{"p256dh":"BCVx","auth":"BTBZ"}"#

    /// What the service was asked.
    private struct Asked {
        var added: [AddSubscription] = []
        var addresses: [String?] = []
        var changed: [ChangeSubscription] = []
        var proven: [ProveSubscription] = []
        var removed: [RemoveSubscription] = []
    }

    /// Runs a test with a gateway whose Web Push service notes what it is asked. It refuses every other secret.
    private static func with(
        services: [String] = [], settings: [String: String] = settings,
        _ body: (_ gateway: RunningGateway, _ asked: () -> Asked) async throws -> Void
    ) async throws {
        let asked = Mutex(Asked())
        let (identifier, known) = (try #require(ObjectID(Self.id)), Secret(Self.secret))
        @Sendable func check(_ given: Secret) throws {
            guard given == known else { throw CommandFailure(.notFound, "there is no such subscription") }
        }
        try await withTemporaryFolder { folder in
            try await BusDouble.run("webpush", in: folder) { router in
                router.on(ReadWebPushKey.self) { _, _ in ReadWebPushKey.Reply(key: "BA1H") }
                router.on(AddSubscription.self) { command, context in
                    guard command.endpoint.text.hasPrefix("https://push.example.net/") else {
                        throw CommandFailure(.invalid, "endpoint: expected a known push service", field: "endpoint")
                    }
                    asked.withLock {
                        $0.added.append(command)
                        $0.addresses.append(context.address)
                    }
                    return AddSubscription.Reply(id: identifier, secret: known)
                }
                router.on(ChangeSubscription.self) { command, _ in
                    try check(command.secret)
                    asked.withLock { $0.changed.append(command) }
                    return Done()
                }
                router.on(ProveSubscription.self) { command, _ in
                    try check(command.secret)
                    asked.withLock { $0.proven.append(command) }
                    return Done()
                }
                router.on(CountSubscriptions.self) { _, _ in SubscriptionCounts(subscriptions: 3, proven: 2, hosts: []) }
                router.on(RemoveSubscription.self) { command, _ in
                    try check(command.secret)
                    asked.withLock { $0.removed.append(command) }
                    return Done()
                }
            } _: {
                try await RunningGateway.with(services: services, in: folder, settings: settings) { gateway in
                    try await body(gateway.with(token: nil)) { asked.withLock(\.self) }
                }
            }
        }
    }

    @Test("A browser subscribes, changes its subjects, proves that pushes arrive, and ends its subscription")
    func subscription() async throws {
        try await Self.with { gateway, asked in
            let key = try await gateway.request("GET", "/app/push")
            #expect(key.status == 200 && key.object["key"] as? String == "BA1H", "\(key)")

            let added = try await gateway.request(
                "POST", Self.path, body: #"{\#(Self.browser),\#(Self.subjects),"language":"ar"}"#)
            #expect(added.status == 201 && added.object["id"] as? String == Self.id, "\(added)")
            #expect(added.object["secret"] as? String == Self.secret && Set(added.object.keys) == ["id", "secret"])
            #expect(added["cache-control"] == "no-store")
            let command = try #require(asked().added.first)
            #expect(
                command.endpoint.text == "https://push.example.net/1" && command.p256dh == "BCVx" && command.auth.text == "BTBZ")
            #expect(command.subjects.alerts.map(\.description) == [Self.topic] && command.subjects.information.isEmpty)
            #expect(command.language == "ar" && asked().addresses == ["127.0.0.1"])
            // What notifications open.
            #expect(command.app == "http://127.0.0.1/app/", "\(command.app ?? "")")

            let changed = try await gateway.request(
                "PUT", Self.one, headers: Self.bearer, body: #"{"alerts":[],"information":["\#(Self.topic)"],"language":"en"}"#)
            #expect(changed.status == 204 && changed.body.isEmpty, "\(changed)")
            let change = try #require(asked().changed.first)
            #expect(change.subjects.information.map(\.description) == [Self.topic] && change.subjects.alerts.isEmpty)
            #expect(change.language == "en" && change.id.description == Self.id)

            let proven = try await gateway.request(
                "POST", Self.one + "/proof", headers: Self.bearer, body: #"{"code":"pH2cXoY9m3k"}"#)
            #expect(proven.status == 204, "\(proven)")
            #expect(asked().proven.map(\.code.text) == ["pH2cXoY9m3k"])

            #expect(try await gateway.request("DELETE", Self.one, headers: Self.bearer).status == 204)
            #expect(asked().removed.map(\.id.description) == [Self.id])
        }
    }

    @Test("Who may read the archive may ask how many browsers are subscribed")
    func counts() async throws {
        try await Self.with(services: ["msi-people"]) { gateway, _ in
            #expect(try await gateway.request("GET", "/app/push/count").status == 401)
            let reader = gateway.with(token: try TestOperator.token(in: gateway.folder))
            let answer = try await reader.request("GET", "/app/push/count")
            #expect(answer.status == 200 && answer.object["proven"] as? Int64 == 2, "\(answer)")
        }
    }

    @Test("A subscription is not changed without its secret")
    func secrets() async throws {
        try await Self.with { gateway, asked in
            let requests: [(method: String, target: String, body: String?)] = [
                ("PUT", Self.one, #"{\#(Self.subjects)}"#), ("POST", Self.one + "/proof", #"{"code":"pH2cXoY9m3k"}"#),
                ("DELETE", Self.one, nil),
            ]
            for (method, target, body) in requests {
                for headers in [[:], ["Authorization": "Basic YTpi"], ["Authorization": "Bearer"]] {
                    let answer = try await gateway.request(method, target, headers: headers, body: body)
                    #expect(answer.status == 401 && answer.object["field"] as? String == "Authorization", "\(method): \(answer)")
                }
                let wrong = try await gateway.request(method, target, headers: ["Authorization": "Bearer other"], body: body)
                #expect(wrong.status == 404 && wrong.problem == "not-found", "\(method): \(wrong)")
                let malformed = try await gateway.request(
                    method, target.replacing(Self.id, with: "1"), headers: Self.bearer, body: body)
                #expect(malformed.status == 400 && malformed.object["field"] as? String == "id", "\(method): \(malformed)")
            }
            #expect(asked().changed.isEmpty && asked().proven.isEmpty && asked().removed.isEmpty)
        }
    }

    @Test("What is wrong with a subscription is said by the name of its field")
    func refused() async throws {
        try await Self.with { gateway, asked in
            let tooMany = Array(repeating: "\"\(Self.topic)\"", count: 801).joined(separator: ",")
            let long = String(repeating: "x", count: 2_049)
            for (body, field) in [
                ("{}", "endpoint"), ("{\(Self.browser)}", "alerts"),
                (#"{"endpoint":"https://push.example.net/1",\#(Self.subjects)}"#, "keys"),
                (#"{"endpoint":"https://push.example.net/1","keys":{"p256dh":"BCVx"},\#(Self.subjects)}"#, "keys.auth"),
                (#"{"endpoint":"\#(long)","keys":{"p256dh":"BCVx","auth":"BTBZ"},\#(Self.subjects)}"#, "endpoint"),
                (
                    #"{"endpoint":"https://elsewhere.example/1","keys":{"p256dh":"BCVx","auth":"BTBZ"},\#(Self.subjects)}"#,
                    "endpoint"
                ),
                (#"{\#(Self.browser),"alerts":["a"],"information":[]}"#, "alerts"),
                (#"{\#(Self.browser),"alerts":[\#(tooMany)],"information":[]}"#, "alerts"),
                (#"{\#(Self.browser),\#(Self.subjects),"language":"a b"}"#, "language"),
                (#"{\#(Self.browser),\#(Self.subjects),"expirationTime":1}"#, "expirationTime"),
            ] {
                let answer = try await gateway.request("POST", Self.path, body: body)
                #expect(answer.status == 400, "\(body.prefix(200)): \(answer)")
                #expect((answer.object["field"] as? String ?? "").hasPrefix(field), "\(body.prefix(200)): \(answer)")
            }
            #expect(asked().added.isEmpty)
        }
    }

    @Test("Without Web Push there is no key, and nothing to subscribe to", arguments: [[:], ["MSI_WEBPUSH_CONTACT": "off"]])
    func switchedOff(settings: [String: String]) async throws {
        try await Self.with(settings: settings) { gateway, asked in
            let answers = [
                try await gateway.request("GET", "/app/push"),
                try await gateway.request("POST", Self.path, body: #"{\#(Self.browser),\#(Self.subjects)}"#),
                try await gateway.request("PUT", Self.one, headers: Self.bearer, body: #"{\#(Self.subjects)}"#),
                try await gateway.request("DELETE", Self.one, headers: Self.bearer),
            ]
            for answer in answers { #expect(answer.status == 404 && answer.problem == "not-found", "\(answer)") }
            #expect(asked().added.isEmpty)
        }
    }

    @Test("While the Web Push service is away, the app is told to try again")
    func away() async throws {
        try await RunningGateway.with(services: [], settings: Self.settings) { gateway in
            let answer = try await gateway.with(token: nil).request("GET", "/app/push")
            #expect(answer.status == 503 && answer.problem == "service-unavailable" && answer["retry-after"] != nil, "\(answer)")
        }
    }
}

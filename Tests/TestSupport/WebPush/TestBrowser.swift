import Base
import NIOHTTP1
import Schemas
import WebPushKeys

/// A browser that is subscribed to pushes of Alerts: its subscription is at a test's push service, and has proven itself to the hub.
package struct TestBrowser: Sendable {
    package let service: TestPushService
    /// The number of its subscription at the push service.
    package let number: Int
    /// The topic keys of the subjects whose Alerts it gets.
    package let alerts: [String]
    /// The id of its subscription, which a person's device registers.
    package let id: String
    private let secret: String

    private static let subscriptions = "/app/push/subscriptions"
    /// How long a first push may take on a busy machine.
    private static let codeTimeout = Duration.seconds(120)

    /// The messages that it has got, in order, with second copies.
    package var arrivals: [PushArrival] { service.arrivals(at: number) }

    /// Subscribes, and returns the code of the first push to the hub. What the hub cannot do now is tried again, with another subscription.
    ///
    /// - Parameters:
    ///   - alerts: The topic keys of the subjects whose Alerts it gets.
    ///   - limit: How long it is tried.
    package static func subscribe(
        to alerts: [String], at service: TestPushService, through portal: Portal, within limit: Duration = .seconds(120)
    ) async throws -> TestBrowser {
        var backoff = Backoff.ofCallers(for: limit)
        while true {
            if let browser = try await subscribeOnce(to: alerts, at: service, through: portal) { return browser }
            guard let pause = backoff.nextPause() else { throw TooLate("the hub takes no subscription to pushes") }
            try await Task.sleep(for: pause)
        }
    }

    /// Subscribes many browsers, some at a time: an address may have few subscriptions that are not proven.
    ///
    /// - Parameters:
    ///   - services: Browser 0 is at the first one, browser 1 at the second one, and so on, in turn.
    ///   - alerts: The topic keys of a browser, by its number.
    /// - Returns: The browsers by their numbers.
    package static func subscribe(
        _ count: Int, at services: [TestPushService], through portal: Portal, within limit: Duration = .seconds(300),
        alerts: @escaping @Sendable (Int) -> [String]
    ) async throws -> [TestBrowser] {
        let clients = 16
        let numbered = try await concurrently(clients) { client in
            var browsers: [(number: Int, browser: TestBrowser)] = []
            for number in stride(from: client, to: count, by: clients) {
                let service = services[number % services.count]
                browsers.append((number, try await subscribe(to: alerts(number), at: service, through: portal, within: limit)))
            }
            return browsers
        }
        return numbered.flatMap(\.self).sorted { $0.number < $1.number }.map(\.browser)
    }

    /// - Returns: `nil` if the hub could not do it now. What it has stored of it gets no messages, or those of a browser that nobody has.
    private static func subscribeOnce(
        to alerts: [String], at service: TestPushService, through portal: Portal
    ) async throws -> TestBrowser? {
        let keys = PushKeys()
        let (number, endpoint) = service.add(keys)
        var body = subjects(alerts)
        body["endpoint"] = .string(endpoint)
        body["keys"] = ["p256dh": .string(keys.p256dh), "auth": .string(keys.authSecret.text)]
        let answer = try await portal.with(token: nil).call(.POST, subscriptions, headers: json, body)
        if answer.status == 503 { return nil }
        guard answer.status == 201, let id = try answer.json["id"]?.string, let secret = try answer.json["secret"]?.string else {
            throw UnexpectedAnswer(answer)
        }
        let browser = TestBrowser(service: service, number: number, alerts: alerts, id: id, secret: secret)
        let code = try await eventually("the code of a first push", within: codeTimeout) { service.code(of: number) }
        let proof = try await browser.call(.POST, "/proof", ["code": .string(code)], portal)
        if proof.status == 503 { return nil }
        guard proof.status == 204 else { throw UnexpectedAnswer(proof) }
        return browser
    }

    /// Whether the hub has its subscription. The question is a sign of life, as the app gives it.
    package func isKnown(to portal: Portal) async throws -> Bool {
        let answer = try await call(.PUT, "", Self.subjects(alerts), portal)
        guard [204, 404].contains(answer.status) else { throw UnexpectedAnswer(answer) }
        return answer.status == 204
    }

    private func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue, _ portal: Portal
    ) async throws -> HTTPAnswer {
        let headers = Self.json.merging(["Authorization": "Bearer \(secret)"]) { $1 }
        return try await portal.call(method, "\(Self.subscriptions)/\(id)\(path)", headers: headers, body)
    }

    private static let json = ["Content-Type": "application/json"]

    private static func subjects(_ alerts: [String]) -> JSONValue {
        ["alerts": .array(alerts.map { .string($0) }), "information": []]
    }
}

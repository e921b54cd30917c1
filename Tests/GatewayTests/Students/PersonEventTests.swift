import Base
import Schemas
import TestSupport
import Testing

@testable import Gateway

@Suite("GET /user/events", .timeLimit(.minutes(10)))
struct PersonEventTests {
    private let signer = TokenSigner()

    /// Runs a test with a gateway that knows the keys.
    private func withGateway(
        settings: [String: String] = [:], _ body: (RunningGateway, PeopleDouble) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            try await people.run(in: folder) {
                try await RunningGateway.with(services: [], in: folder, settings: settings) { gateway in
                    let ann = gateway.with(token: try signer.token().text)
                    try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                    try await body(gateway, people)
                }
            }
        }
    }

    /// The same after a first event: a gateway misses those before it has subscribed.
    private func withEvents(_ body: (RunningGateway, PeopleDouble) async throws -> Void) async throws {
        try await withGateway { gateway, people in
            try await withStream(of: signer.token("nobody"), at: gateway) { stream in
                try await eventually("a first event") {
                    people.tell("nobody", "profile")
                    return !told(stream).isEmpty
                }
            }
            try await body(gateway, people)
        }
    }

    /// Runs a part of a test with a stream of a device.
    private func withStream<Value: Sendable>(
        of token: Secret, at gateway: RunningGateway, lastEventID: String? = nil,
        _ body: (EventStreamClient) async throws -> Value
    ) async throws -> Value {
        let headers = ["Authorization": "Bearer \(token.text)"].merging(lastEventID.map { ["Last-Event-ID": $0] } ?? [:]) { $1 }
        return try await withHTTPClient { http in
            try await EventStreamClient.with(
                "http://127.0.0.1:\(gateway.port)/user/events", headers: headers, http: http, body)
        }
    }

    private func told(_ stream: EventStreamClient) -> [JSONValue] { stream.events("person") }

    @Test("A person's streams carry what happens to that person on each of their devices, and nothing of others")
    func events() async throws {
        try await withEvents { gateway, people in
            try await withStream(of: signer.token("Ann"), at: gateway) { phone in
                try await withStream(of: signer.token("ann"), at: gateway) { browser in
                    try await withStream(of: signer.token("bob"), at: gateway) { other in
                        #expect(phone.status == 200 && phone.beginsWithRetry)
                        people.tell("bob", "requests")
                        people.tell("ANN", "friends", "bob")
                        people.tell("ann", "profile")
                        let expected: [JSONValue] = [["id": "bob", "kind": "friends"], ["kind": "profile"]]
                        try await eventually("both events") { told(phone).count == 2 && told(browser).count == 2 }
                        #expect(told(phone) == expected && told(browser) == expected)
                        try await eventually("bob's") { told(other) == [["kind": "requests"]] }
                        try await eventually("a sign of life") { !other.events("alive").isEmpty }
                    }
                }
            }
        }
    }

    @Test("A client that comes back gets what it has missed, and with an unknown position a reset")
    func resume() async throws {
        try await withEvents { gateway, people in
            let token = try signer.token()
            let last = try await withStream(of: token, at: gateway) { stream in
                people.tell("ann", "friends")
                try await eventually("the event") { told(stream).count == 1 }
                return try #require(stream.lastEventID)
            }
            try await withStream(of: signer.token("bob"), at: gateway) { stream in
                people.tell("ann", "profile")
                people.tell("bob", "devices")
                try await eventually("the event") { told(stream).count == 1 }
            }
            try await withStream(of: token, at: gateway, lastEventID: last) { stream in
                #expect(told(stream) == [["kind": "profile"]] && stream.events("reset").isEmpty)
            }
            try await withStream(of: token, at: gateway, lastEventID: "nonsense") { stream in
                #expect(told(stream).isEmpty && stream.events("reset") == [[:]])
            }
            try await withStream(of: token, at: gateway) { stream in
                #expect(told(stream).isEmpty && stream.events("reset").isEmpty)
            }
        }
    }

    @Test("Where an event may be missing, all streams are told")
    func gap() async throws {
        try await withEvents { gateway, people in
            try await withStream(of: signer.token(), at: gateway) { stream in
                people.tell("bob", "friends")
                people.tell("bob", "friends", skipped: 3)
                try await eventually("a reset") { stream.events("reset") == [["service": "people"]] }
            }
        }
    }

    @Test("A stream ends at once with its device, with all devices of its account, and with its key; others stay")
    func ends() async throws {
        try await withGateway { gateway, people in
            let device = ObjectID()
            try await withStream(of: signer.token("bob"), at: gateway) { other in
                try await withStream(of: signer.token("ann", device), at: gateway) { ended in
                    try await withStream(of: signer.token("ann"), at: gateway) { second in
                        people.end(device)
                        try await eventually("the end", within: .seconds(5)) { ended.hasEnded }
                        #expect(!second.hasEnded)
                        people.end(.sample("ann"))
                        try await eventually("the end of the account") { second.hasEnded }
                        #expect(!other.hasEnded)
                    }
                }
                try await withStream(of: signer.token("ann", device, issued: .ago(.seconds(5))), at: gateway) {
                    #expect($0.status == 401)
                }
                people.use([TokenSigner("k2")])
                try await eventually("the end with the key") { other.hasEnded }
            }
        }
    }

    @Test("A stream ends with its token")
    func expiry() async throws {
        try await withGateway { gateway, _ in
            // The clocks may differ by a minute.
            let token = try signer.token("ann", issued: .ago(.seconds(3_600 + 50)))
            try await withStream(of: token, at: gateway) { stream in
                #expect(stream.status == 200)
                try await eventually("the end") { stream.hasEnded }
            }
        }
    }

    @Test("Among many streams, an event comes on its own alone")
    func many() async throws {
        try await withEvents { gateway, people in
            let tokens = try (0..<300).map { try signer.token("student\($0)").text }
            let url = "http://127.0.0.1:\(gateway.port)/user/events"
            try await StreamCrowd.with(url, tokens: tokens, counting: "person") { crowd in
                #expect(crowd.refused.isEmpty && crowd.open == tokens.count)
                for number in stride(from: 0, to: 300, by: 3) { people.tell("student\(number)", "friends") }
                try await eventually("an event on each third stream") { crowd.total >= 100 }
                for number in 0..<300 { #expect(crowd.received(by: number)?.count == (number % 3 == 0 ? 1 : nil)) }
            }
        }
    }

    @Test("A device may have 4 streams, and its account 32; staff and persons share half of the connections")
    func limits() async throws {
        try await withGateway(settings: ["MSI_GATEWAY_MAX_CONNECTIONS": "80"]) { gateway, _ in
            var open: [HeldConnection] = []
            func stream(_ token: Secret) async throws -> HTTPAnswer {
                let connection = try HeldConnection(to: gateway.port)
                connection.send("GET", "/user/events", "Authorization: Bearer \(token.text)")
                let answer = try await connection.answer()
                if answer.status == 200 { open.append(connection) }
                return answer
            }
            let first = try signer.token()
            for _ in 0..<4 { #expect(try await stream(first).status == 200) }
            let fifth = try await stream(first)
            #expect(fifth.status == 429 && fifth["retry-after"] == "10" && fifth.problem == "too-many-requests", "\(fifth)")
            for _ in 0..<7 {
                let token = try signer.token()
                for _ in 0..<4 { #expect(try await stream(token).status == 200) }
            }
            #expect(try await stream(signer.token()).status == 429)
            for number in 0..<8 { #expect(try await stream(signer.token("student\(number)")).status == 200) }
            let full = try await stream(signer.token("bob"))
            #expect(full.status == 503 && full.problem == "overloaded", "\(full)")
            #expect(try await gateway.with(token: signer.token("bob").text).request("GET", "/user").status == 200)
            open.removeAll()
            try await eventually("a free place") { try await stream(first).status == 200 }
        }
    }
}

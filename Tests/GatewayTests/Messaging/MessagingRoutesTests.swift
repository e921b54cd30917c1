import Base
import FoundationEssentials
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Each route of messages, statuses and pictures: the command that it sends, in whose name, and its answer.
@Suite("Routes of messages between persons", .timeLimit(.minutes(10)))
struct MessagingRoutesTests {
    typealias Expectation = PersonRoutesTests.Expectation

    private static let device = ObjectID()
    private static let object = ObjectID()
    private static let id = JSONValue.string("\(object)")
    private static let own = JSONValue.string("\(device)")

    private static func send(_ target: String) -> Expectation {
        .init(
            "POST", target, #"{"to":"bob","text":"Hi"}"#, 201, "direct_message.send",
            ["draft": ["text": "Hi", "to": "bob"], "request_key": "once"])
    }

    private static func set(_ target: String) -> Expectation {
        .init("POST", target, #"{"text":"Here"}"#, 201, "status.set", ["draft": ["text": "Here"], "request_key": "once"])
    }

    private static let messages: [Expectation] = [
        send("/user/messages"), send("/sendMessage"),
        .init(
            "GET", "/user/messages?after=7&limit=3&prompt=\(object)", nil, 200, "direct_message.news",
            ["after": 7, "device": own, "limit": 3, "prompt": id]),
        .init("GET", "/getMessage", nil, 200, "direct_message.news", ["after": 0, "device": own, "limit": 50]),
        .init(
            "PUT", "/user/messages/received", #"{"after":9}"#, 204, "direct_message.received", ["after": 9, "device": own]),
        .init("PUT", "/user/messages/\(object)/read", nil, 204, "direct_message.read", ["message": id]),
        .init("GET", "/user/messages/\(object)/picture", nil, 200, "picture.read", ["id": id, "of": "message"]),
        .init(
            "GET", "/user/conversations/b%6Fb?limit=5&before=8", nil, 200, "direct_message.list",
            ["account": "bob", "before": 8, "limit": 5]),
        .init("GET", "/user/messaging", nil, 200, "messaging.get"),
        .init(
            "PUT", "/user/messaging", #"{"read_marks":false}"#, 200, "messaging.choose", ["choices": ["read_marks": false]]),
    ]

    private static let others: [Expectation] = [
        set("/user/status"), set("/sendStatus"),
        .init("GET", "/user/statuses", nil, 200, "status.list", ["device": own]),
        .init("GET", "/getStatus", nil, 200, "status.list", ["device": own]),
        .init("GET", "/user/status", nil, 200, "status.own"), .init("DELETE", "/user/status", nil, 204, "status.remove"),
        .init(
            "PUT", "/user/statuses/seen", #"{"statuses":["\#(object)"]}"#, 204, "status.seen", ["seen": ["statuses": [id]]]),
        .init("GET", "/user/statuses/\(object)/picture", nil, 200, "picture.read", ["id": id, "of": "status"]),
        .init("PUT", "/user/picture", #"{"picture":"\#(object)"}"#, 204, "picture.profile", ["picture": id]),
        .init("DELETE", "/user/picture", nil, 204, "picture.profile"),
        .init("GET", "/users/ANN/picture", nil, 200, "picture.read", ["id": "ANN", "of": "profile"]),
        .init(
            "POST", "/user/reports", #"{"message":"\#(object)","account":"bob","text":"Pay"}"#, 201, "message_report.add",
            ["draft": ["account": "bob", "message": id, "text": "Pay"]]),
    ]

    private static let all = messages + others
    /// `PictureRoutesTests` has it.
    private static let uploads = 1

    private let signer = TokenSigner()

    /// Runs a test with a gateway, and services that the test makes up.
    private func withGateway(_ body: (_ ann: RunningGateway, MessagingDouble) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let (people, messaging) = (PeopleDouble(signer), MessagingDouble())
            try await people.run(in: folder) {
                try await messaging.run(in: folder) {
                    try await RunningGateway.with(services: [], in: folder) { gateway in
                        let ann = gateway.with(token: try signer.token("ann", Self.device).text)
                        try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                        try await body(ann, messaging)
                    }
                }
            }
        }
    }

    private func send(_ expected: Expectation, to gateway: RunningGateway) async throws -> HTTPAnswer {
        let key = expected.method == "POST" ? ["Idempotency-Key": "once"] : [:]
        return try await gateway.request(expected.method, expected.target, headers: key, body: expected.body)
    }

    @Test("Every route is in this table, and sends its command, with the person of the token and nobody else")
    func commands() async throws {
        let declared = try await Features.alone { $0.routes.filter(\.isOfMessaging) }
        #expect(declared.count == Self.all.count + Self.uploads)
        try await withGateway { ann, messaging in
            for expected in Self.all {
                let answer = try await send(expected, to: ann)
                #expect(answer.status == expected.status, "\(expected.testDescription): \(answer)")
                let asked = try #require(messaging.asked.last)
                #expect(
                    asked.name == expected.command && asked.fields == expected.fields, "\(expected.testDescription): \(asked)")
                #expect(asked.actor == "ann" && asked.credential == nil, "\(expected.testDescription)")
            }
            let page = try await ann.request("GET", "/user/conversations/bob?limit=2")
            #expect(page["link"] == "</user/conversations/bob?limit=2&before=7>; rel=\"next\"", "\(page.headers)")
            #expect(try await ann.request("GET", "/user/conversations/bob?before=7")["link"] == nil)
            let status = try await ann.request("POST", "/user/status", body: #"{"text":"Here"}"#)
            #expect(status["location"] == "/user/status", "\(status.headers)")
        }
    }

    @Test("The seed's operations have their names in the API's document, and are paths as well")
    func seed() async throws {
        let document = try await Features.alone { try OpenAPIDocument($0.sections).json }
        let operations: [(String, String, String)] = [
            ("sendMessage", "post", "/user/messages"), ("getMessage", "get", "/user/messages"),
            ("sendStatus", "post", "/user/status"), ("getStatus", "get", "/user/statuses"),
            ("addFriend", "post", "/user/friends"), ("getFriends", "get", "/user/friends"),
        ]
        for (name, method, path) in operations {
            let (own, seeds) = (document["paths"]?[path]?[method], document["paths"]?["/\(name)"]?[method])
            #expect(own?["operationId"]?.string == name && seeds?["operationId"]?.string == name + "BySeed", "\(name)")
            #expect(own?["requestBody"] == seeds?["requestBody"] && own?["responses"] == seeds?["responses"], "\(name)")
        }
        #expect(document["paths"]?["/message"]?["post"]?["operationId"]?.string == "sendMessageToSubject")
    }

    @Test("A failure of the messaging service has its status, its field and its detail")
    func failures() async throws {
        let failures: [(CommandFailure, Int, String)] = [
            (CommandFailure(.forbidden, "a reason"), 403, "forbidden"),
            (CommandFailure(.notFound, "a reason", field: "to"), 404, "not-found"),
            (CommandFailure(.conflict, "a reason", field: "to"), 409, "conflict"),
            (CommandFailure(.unavailable, "a reason"), 503, "service-unavailable"),
            (CommandFailure(.storageFull, "a reason"), 507, "storage-full"),
        ]
        try await withGateway { ann, messaging in
            for expected in Self.all {
                for (failure, status, problem) in failures {
                    messaging.fail(expected.command, failure)
                    let answer = try await send(expected, to: ann)
                    #expect(answer.status == status && answer.problem == problem, "\(expected.testDescription): \(answer)")
                    #expect(answer.object["field"] as? String == failure.field, "\(expected.testDescription)")
                    #expect(answer.object["detail"] as? String == "a reason", "\(expected.testDescription)")
                }
                messaging.fail(expected.command, nil)
                guard expected.command != "picture.read" else { continue }
                let wait = Milliseconds(rawValue: 1_500)
                messaging.fail(expected.command, CommandFailure(.overloaded, "too many", retryAfter: wait))
                let limited = try await send(expected, to: ann)
                #expect(limited.status == 429 && limited["retry-after"] == "2", "\(expected.testDescription): \(limited)")
                messaging.fail(expected.command, CommandFailure(.conflict, "another", field: "request_key"))
                let reused = try await send(expected, to: ann)
                #expect(
                    reused.status == 422 && reused.problem == "idempotency-key-reused"
                        && reused.object["field"] as? String == "Idempotency-Key", "\(expected.testDescription): \(reused)")
                messaging.fail(expected.command, nil)
            }
        }
    }

    @Test("That a message is new comes on the streams of its two persons alone, with the message to name in the fetch")
    func events() async throws {
        try await withTemporaryFolder { folder in
            let (people, messaging) = (PeopleDouble(signer), MessagingDouble())
            try await people.run(in: folder) {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let ann = gateway.with(token: try signer.token("ann").text)
                    try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                    try await messaging.run(in: folder) {
                        try await withStream(of: "ann", at: gateway) { own in
                            try await withStream(of: "bob", at: gateway) { other in
                                // A gateway misses what is told before it has subscribed.
                                try await eventually("a first event") {
                                    messaging.tell("bob", ObjectID())
                                    return !other.events("person").isEmpty
                                }
                                let message = ObjectID()
                                messaging.tell("ANN", message)
                                let expected: JSONValue = ["id": .string("\(message)"), "kind": "messages"]
                                try await eventually("the event") { own.events("person") == [expected] }
                                #expect(!other.events("person").contains(expected))
                            }
                        }
                    }
                    // Events may be missing while the service is away.
                    try await withStream(of: "ann", at: gateway) { stream in
                        try await messaging.run(in: folder) {
                            try await eventually("a reset") { !stream.events("reset").isEmpty }
                        }
                    }
                }
            }
        }
    }

    private func withStream(
        of account: String, at gateway: RunningGateway, _ body: (EventStreamClient) async throws -> Void
    ) async throws {
        let headers = ["Authorization": "Bearer \(try signer.token(account).text)"]
        try await withHTTPClient { http in
            try await EventStreamClient.with(
                "http://127.0.0.1:\(gateway.port)/user/events", headers: headers, http: http, body)
        }
    }
}

import Base
import FoundationEssentials
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// What the gateway itself does for messages, statuses and pictures: it checks requests, and asks other services.
@Suite("Requests about messages between persons", .timeLimit(.minutes(10)))
struct MessagingInputTests {
    private let signer = TokenSigner()

    /// Runs a test with a gateway, and services that the test makes up.
    private func withGateway(
        _ study: StudyDouble = StudyDouble(), settings: [String: String] = [:],
        _ body: (_ ann: RunningGateway, MessagingDouble, PeopleDouble) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let (people, messaging) = (PeopleDouble(signer), MessagingDouble())
            try await people.run(in: folder) {
                try await study.run(in: folder) {
                    try await messaging.run(in: folder) {
                        try await RunningGateway.with(services: [], in: folder, settings: settings) { gateway in
                            let ann = gateway.with(token: try signer.token("ann").text)
                            try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                            try await body(ann, messaging, people)
                        }
                    }
                }
            }
        }
    }

    @Test("Bodies, names and queries that cannot be right are refused before the messaging service is asked")
    func invalid() async throws {
        try await withGateway { ann, messaging, _ in
            let id = ObjectID()
            let long = String(repeating: "t", count: 2_001)
            let requests: [(String, String, String?, String)] = [
                ("POST", "/user/messages", #"{"to":"bob"}"#, "text"), ("POST", "/user/messages", #"{"text":"t"}"#, "to"),
                ("POST", "/user/messages", #"{"to":"b b","text":"t"}"#, "to"),
                ("POST", "/user/messages", #"{"to":"bob","text":" "}"#, "text"),
                ("POST", "/user/messages", #"{"to":"bob","text":"\#(long)"}"#, "text"),
                ("POST", "/sendMessage", #"{"to":"bob","text":"t","picture":"\#(id)"}"#, "text"),
                ("POST", "/user/messages", #"{"to":"bob","picture":"1"}"#, "picture"),
                ("POST", "/user/messages", #"{"to":"bob","text":"t","at":1}"#, "at"),
                ("GET", "/user/messages?after=-1", nil, "after"), ("GET", "/user/messages?limit=0", nil, "limit"),
                ("GET", "/getMessage?limit=201", nil, "limit"), ("GET", "/user/messages?prompt=x", nil, "prompt"),
                ("GET", "/user/messages?since=1", nil, "since"),
                ("PUT", "/user/messages/received", #"{"after":-1}"#, "after"),
                ("PUT", "/user/messages/received", #"{"after":9223372036854775808}"#, "after"),
                ("PUT", "/user/messages/x/read", nil, "id"), ("GET", "/user/messages/x/picture", nil, "id"),
                ("GET", "/user/conversations/b%20b", nil, "account"),
                ("GET", "/user/conversations/bob?before=-1", nil, "before"),
                ("GET", "/user/conversations/bob?limit=201", nil, "limit"),
                ("PUT", "/user/messaging", #"{"read_marks":1}"#, "read_marks"),
                ("POST", "/user/status", "{}", "text"), ("POST", "/sendStatus", #"{"text":"\#(long)"}"#, "text"),
                ("PUT", "/user/statuses/seen", #"{"statuses":[]}"#, "statuses"),
                ("PUT", "/user/statuses/seen", #"{"statuses":["1"]}"#, "statuses[0]"),
                ("GET", "/user/statuses/x/picture", nil, "id"), ("PUT", "/user/picture", "{}", "picture"),
                ("GET", "/users/b%20b/picture", nil, "id"),
                ("POST", "/user/reports", #"{"message":"\#(id)","account":"bob"}"#, "text"),
                ("POST", "/user/reports", #"{"message":"1","account":"bob","text":"t"}"#, "message"),
                ("POST", "/user/pictures?report=1", "", "report"),
            ]
            for (method, target, body, field) in requests {
                let answer = try await ann.request(method, target, body: body)
                #expect(answer.status == 400 && answer.object["field"] as? String == field, "\(method) \(target): \(answer)")
            }
            #expect(messaging.asked.isEmpty)
        }
    }

    @Test("Every POST takes an Idempotency-Key, and refuses one that is none")
    func keys() async throws {
        let routes = try await Features.alone { $0.routes.filter { $0.isOfMessaging && $0.method == .post } }
        #expect(routes.count == 6)
        for route in routes {
            let headers = route.documentation?.headers.map(\.name) ?? []
            #expect(headers.contains(.idempotencyKey), "\(route.path)")
        }
        try await withGateway { ann, messaging, _ in
            for route in routes {
                let long = ["Idempotency-Key": String(repeating: "k", count: 256)]
                let answer = try await ann.request("POST", route.path, headers: long, body: "{}")
                #expect(answer.object["field"] as? String == "Idempotency-Key", "\(route.path): \(answer)")
            }
            #expect(messaging.asked.isEmpty)
        }
    }

    @Test("Classmates write to each other only if the operator lets them; the study service says who they are")
    func classmates() async throws {
        let study = StudyDouble()
        study.put(["ann", "bob"], into: ObjectID())
        for isOn in [false, true] {
            try await withGateway(study, settings: ["MSI_MESSAGING_CLASSMATES": isOn ? "on" : "off"]) { ann, messaging, _ in
                let before = study.asked.count
                for (name, isClassmate) in [("bob", isOn), ("carl", false), ("ann", false)] {
                    // The gateway waits for the study service only for a moment, which may be too short on a busy machine.
                    try await eventually("the message to \(name)") {
                        let sent = try await ann.request("POST", "/user/messages", body: #"{"to":"\#(name)","text":"t"}"#)
                        let flag: JSONValue? = isClassmate ? true : nil
                        return sent.status == 201 && messaging.asked.last?.fields["classmate"] == flag
                    }
                }
                #expect(study.asked.count > before || !isOn)
                let information = try await ann.request("GET", "/user/messaging")
                #expect(information.object["classmates"] as? Bool == isOn, "\(information)")
                study.fail("class.shared", CommandFailure(.internal, "it has failed"))
                let sent = try await ann.request("POST", "/user/messages", body: #"{"to":"bob","text":"t"}"#)
                #expect(sent.status == 201 && messaging.asked.last?.fields["classmate"] == nil, "\(sent)")
                // Who is no friend may be a classmate.
                messaging.fail("direct_message.send", CommandFailure(.notFound, "no person bob", field: "to"))
                let unknown = try await ann.request("POST", "/user/messages", body: #"{"to":"bob","text":"t"}"#)
                #expect(unknown.status == (isOn ? 503 : 404) && unknown["retry-after"] == (isOn ? "2" : nil), "\(unknown)")
                study.fail("class.shared", nil)
                try await eventually("the study service is asked again") {
                    try await ann.request("POST", "/user/messages", body: #"{"to":"carl","text":"t"}"#).status == 404
                }
            }
        }
    }

    @Test("The picture of a profile is for those to whom the people service shows it")
    func profiles() async throws {
        try await withGateway { ann, messaging, people in
            // The example's profile has a picture for friends.
            let shown = try await ann.request("GET", "/users/bob/picture")
            #expect(shown.status == 200 && shown.body == MessagingDouble.picture, "\(shown)")
            let asked = try #require(people.asked.last)
            #expect(asked.name == "person.view" && asked.fields == ["account": "bob"] && asked.actor == "ann")
            let read = try #require(messaging.asked.last)
            #expect(read.fields == ["id": .string("\(PersonView.example.account)"), "of": "profile"] && read.actor == "ann")
            people.fail("person.view", CommandFailure(.notFound, "nobody"))
            let hidden = try await ann.request("GET", "/users/bob/picture")
            #expect(hidden.status == 404 && hidden.object["detail"] as? String == "nobody", "\(hidden)")
            let wait = Milliseconds(rawValue: 1_500)
            people.fail("person.view", CommandFailure(.overloaded, "too many strangers", retryAfter: wait))
            #expect(try await ann.request("GET", "/users/bob/picture").status == 429)
            #expect(messaging.asked.count == 1)
            // One's own needs no leave.
            #expect(try await ann.request("GET", "/users/ann/picture").status == 200)
            #expect(messaging.asked.count == 2)
        }
    }

    @Test("While the messaging service is away, its routes are 503, and nothing else is")
    func away() async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            try await people.run(in: folder) {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let ann = gateway.with(token: try signer.token("ann").text)
                    try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                    for target in ["/user/messages", "/user/statuses", "/user/messages/\(ObjectID())/picture"] {
                        let away = try await ann.request("GET", target)
                        #expect(away.status == 503 && away.problem == "service-unavailable", "\(target): \(away)")
                        #expect(away["retry-after"] == "2" && away.text.contains("messaging service"), "\(target): \(away)")
                    }
                    #expect(try await ann.request("GET", "/user/friends").status == 200)
                }
            }
        }
    }
}

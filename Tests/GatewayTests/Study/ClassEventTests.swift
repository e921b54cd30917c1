import Base
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// What happens in classes, on the streams of `GET /user/events`.
@Suite("Events of classes", .timeLimit(.minutes(10)))
struct ClassEventTests {
    private let signer = TokenSigner()
    private let one = ObjectID()
    private let other = ObjectID()

    /// Runs a test with a gateway, and services that the test makes up. The gateway gets events when it begins.
    private func withGateway(_ body: (RunningGateway, StudyDouble, PeopleDouble) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let (people, study) = (PeopleDouble(signer), StudyDouble())
            try await people.run(in: folder) {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let ann = gateway.with(token: try signer.token().text)
                    try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                    try await study.run(in: folder) {
                        try await withStream(of: "nobody", at: gateway) { stream in
                            try await eventually("a first event of both") {
                                people.tell("nobody", "friends")
                                study.tell("nobody", "session")
                                return Set(kinds(stream)) == ["friends", "session"]
                            }
                        }
                        // Its commands have another connection.
                        try await eventually("its answers") {
                            try await ann.request("GET", "/user/classes").status == 200
                        }
                        try await body(gateway, study, people)
                    }
                }
            }
        }
    }

    /// Runs a part of a test with a stream of a person.
    private func withStream<Value: Sendable>(
        of account: String, at gateway: RunningGateway, _ classes: [ObjectID] = [], lastEventID: String? = nil,
        _ body: (EventStreamClient) async throws -> Value
    ) async throws -> Value {
        let headers = ["Authorization": "Bearer \(try signer.token(account).text)"].merging(
            lastEventID.map { ["Last-Event-ID": $0] } ?? [:]
        ) { $1 }
        let list = classes.map(\.description).joined(separator: ",")
        let url = "http://127.0.0.1:\(gateway.port)/user/events" + (classes.isEmpty ? "" : "?classes=\(list)")
        return try await withHTTPClient { http in
            try await EventStreamClient.with(url, headers: headers, http: http, body)
        }
    }

    private func kinds(_ stream: EventStreamClient) -> [String] {
        stream.events("person").compactMap { $0["kind"]?.string }
    }

    private func event(_ classID: ObjectID, _ kind: ClassChanged.Kind, _ session: ObjectID) -> JSONValue {
        ["class": "\(classID)", "kind": .string(kind.rawValue), "session": "\(session)"]
    }

    @Test("A stream carries what happens in those of its classes in which the person is, and what both services tell of them")
    func events() async throws {
        try await withGateway { gateway, study, people in
            study.put(["ann"], into: one)
            study.put(["ann", "bob"], into: other)
            let session = ObjectID()
            try await withStream(of: "Ann", at: gateway, [one]) { ann in
                try await withStream(of: "bob", at: gateway, [one, other]) { bob in
                    try await withStream(of: "ann", at: gateway) { silent in
                        study.tell(one, .posts, of: session)
                        study.tell(other, .sessions, of: session)
                        study.tell("ann", "invites", session)
                        people.tell("ann", "friends", "bob")
                        try await eventually("all events") {
                            ann.events("class") == [event(one, .posts, session)]
                                && bob.events("class") == [event(other, .sessions, session)]
                                && Set(kinds(ann)) == ["invites", "friends"] && Set(kinds(silent)) == ["invites", "friends"]
                        }
                        #expect(ann.events("person").contains(["kind": "invites", "id": "\(session)"]))
                        #expect(silent.events("class").isEmpty && kinds(bob).isEmpty)
                        for stream in [ann, bob, silent] { #expect(stream.events("reset").isEmpty && !stream.hasEnded) }
                    }
                }
            }
        }
    }

    @Test("After a change of the person's classes a stream follows none; the next one follows those of that moment")
    func changes() async throws {
        try await withGateway { gateway, study, _ in
            study.put(["ann", "bob"], into: one)
            try await withStream(of: "bob", at: gateway, [one]) { bob in
                try await withStream(of: "ann", at: gateway, [one]) { ann in
                    study.put(["bob"], into: one)
                    study.tell("ann", "classes", one)
                    study.tell(one, .sessions, of: ObjectID())
                    try await eventually("bob's event") { bob.events("class").count == 1 }
                    try await eventually("the change") { kinds(ann) == ["classes"] }
                    #expect(ann.events("class").isEmpty && !ann.hasEnded)
                }
                try await withStream(of: "ann", at: gateway, [one]) { ann in
                    study.tell(one, .sessions, of: ObjectID())
                    try await eventually("bob's event") { bob.events("class").count == 2 }
                    #expect(ann.events("class").isEmpty)
                }
                study.put(["ann", "bob"], into: one)
                try await withStream(of: "ann", at: gateway, [one]) { ann in
                    study.tell(one, .posts, of: ObjectID())
                    try await eventually("ann's event") { ann.events("class").count == 1 }
                }
            }
        }
    }

    @Test("Events of classes are not resumed; those of the person are")
    func resume() async throws {
        try await withGateway { gateway, study, _ in
            study.put(["ann"], into: one)
            let last = try await withStream(of: "ann", at: gateway, [one]) { stream in
                study.tell(one, .posts, of: ObjectID())
                try await eventually("the event") { stream.events("class").count == 1 }
                return try #require(stream.lastEventID)
            }
            try await withStream(of: "bob", at: gateway) { bob in
                study.tell(one, .posts, of: ObjectID())
                study.tell("ann", "session")
                study.tell("bob", "session")
                try await eventually("bob's") { kinds(bob) == ["session"] }
            }
            try await withStream(of: "ann", at: gateway, [one], lastEventID: last) { stream in
                #expect(kinds(stream) == ["session"] && stream.events("class").isEmpty && stream.events("reset").isEmpty)
                study.tell(one, .posts, of: ObjectID())
                try await eventually("the next event") { stream.events("class").count == 1 }
            }
        }
    }

    @Test("Where an event of a class may be missing, its followers are told; where one of a person may, their streams end")
    func gaps() async throws {
        try await withGateway { gateway, study, _ in
            study.put(["ann", "bob"], into: one)
            try await withStream(of: "bob", at: gateway) { bob in
                try await withStream(of: "ann", at: gateway, [one]) { ann in
                    study.tell(one, .posts, of: ObjectID())
                    try await eventually("the event") { ann.events("class").count == 1 }
                    study.tell(one, .posts, of: ObjectID(), skipped: 2)
                    try await eventually("a reset") { ann.events("reset").count == 1 && ann.events("class").count == 2 }
                    #expect(!ann.hasEnded && bob.events("reset").isEmpty)
                    study.tell("carl", "session", skipped: 1)
                    try await eventually("the end") { ann.hasEnded }
                    try await eventually("a reset for all") { bob.events("reset") == [["service": "study"]] }
                    #expect(!bob.hasEnded)
                }
            }
        }
    }

    @Test("While the study service is away, a stream carries no class, and it ends when the service is back")
    func away() async throws {
        try await withTemporaryFolder { folder in
            let (people, study) = (PeopleDouble(signer), StudyDouble())
            study.put(["ann"], into: one)
            try await people.run(in: folder) {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let ann = gateway.with(token: try signer.token().text)
                    try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                    try await withStream(of: "bob", at: gateway) { bob in
                        try await withStream(of: "ann", at: gateway, [one]) { stream in
                            #expect(stream.status == 200)
                            try await eventually("an event") {
                                people.tell("ann", "friends")
                                return !kinds(stream).isEmpty
                            }
                            try await study.run(in: folder) {
                                try await eventually("the end") { stream.hasEnded }
                                #expect(!bob.hasEnded)
                                try await eventually("its answers") {
                                    try await ann.request("GET", "/user/classes").status == 200
                                }
                                try await withStream(of: "ann", at: gateway, [one]) { next in
                                    try await eventually("an event of the class") {
                                        study.tell(one, .posts, of: ObjectID())
                                        return !next.events("class").isEmpty
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("Nobody is told that the study service is away; when it is back all are told, and streams that ask for classes end")
    func back() async throws {
        try await withTemporaryFolder { folder in
            let (people, study) = (PeopleDouble(signer), StudyDouble())
            study.put(["ann"], into: one)
            try await people.run(in: folder) {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let ann = gateway.with(token: try signer.token().text)
                    try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                    try await withStream(of: "bob", at: gateway) { bob in
                        let resets = { bob.events("reset").filter { $0 == ["service": "study"] }.count }
                        try await study.run(in: folder) {
                            try await eventually("the first connection") { resets() == 1 }
                        }
                        try await withStream(of: "ann", at: gateway, [one]) { stream in
                            let known = stream.events("alive").count
                            try await eventually("signs of life") { stream.events("alive").count >= known + 2 }
                            #expect(resets() == 1 && !stream.hasEnded && stream.events("reset").isEmpty)
                            try await study.run(in: folder) {
                                try await eventually("the end") { stream.hasEnded }
                                try await eventually("a reset") { resets() == 2 }
                                #expect(!bob.hasEnded)
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("A list of classes that is none is refused")
    func invalid() async throws {
        try await withGateway { gateway, _, _ in
            let ann = gateway.with(token: try signer.token().text)
            for list in ["x", "\(one),", "\(one);\(other)", String(repeating: "\(one),", count: 101) + "\(one)"] {
                let answer = try await ann.request("GET", "/user/events?classes=\(list)")
                #expect(answer.status == 400 && answer.object["field"] as? String == "classes", "\(answer)")
            }
        }
    }
}

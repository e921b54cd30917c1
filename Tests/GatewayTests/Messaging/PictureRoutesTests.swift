import Base
import FoundationEssentials
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Pictures over HTTP: how they come in, to whom they go out, and with which headers.
@Suite("Pictures over HTTP", .timeLimit(.minutes(10)))
struct PictureRoutesTests {
    private let signer = TokenSigner()

    /// Runs a test with a person's device and a messaging service that the test makes up.
    private func withPerson(_ body: (_ ann: RunningGateway, MessagingDouble) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let (people, messaging) = (PeopleDouble(signer), MessagingDouble())
            try await people.run(in: folder) {
                try await messaging.run(in: folder) {
                    try await RunningGateway.with(services: [], in: folder) { gateway in
                        let ann = gateway.with(token: try signer.token("ann").text)
                        try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                        try await body(ann, messaging)
                    }
                }
            }
        }
    }

    /// Runs a test with the operator's token and a messaging service that the test makes up.
    private func withOperator(
        settings: [String: String] = [:], _ body: (RunningGateway, MessagingDouble) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let messaging = MessagingDouble()
            try await messaging.run(in: folder) {
                try await RunningGateway.with(services: ["msi-people"], in: folder, settings: settings) { gateway in
                    try await body(gateway, messaging)
                }
            }
        }
    }

    private static func expectPicture(
        _ answer: HTTPAnswer, cacheControl: String = "private, no-store", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == 200 && answer.body == MessagingDouble.picture, "\(answer)", sourceLocation: sourceLocation)
        let headers = [
            "Content-Type": "image/jpeg", "Content-Length": "\(MessagingDouble.picture.count)",
            "Content-Disposition": "attachment; filename=\"picture.jpg\"", "Cache-Control": cacheControl,
            "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        ]
        for (name, value) in headers {
            #expect(answer[name] == value, "\(name): \(answer.headers)", sourceLocation: sourceLocation)
        }
        #expect(answer["Content-Encoding"] == nil && answer["ETag"] == nil, sourceLocation: sourceLocation)
    }

    @Test("The bytes of an upload reach the messaging service as they are, up to 1 MiB, whatever type they are said to have")
    func uploads() async throws {
        try await withPerson { ann, messaging in
            let uploaded = try JSONValue(parsing: JSONCoder.encode(UploadedPicture.example))
            let sizes = [1, 65_536, 65_537, MessagingLimits.maxPictureBytes]
            for (size, type) in zip(sizes, ["image/png", "image/jpeg", "Image/WebP; q=1", "image/png"]) {
                let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                let answer = try await ann.upload(bytes, to: "/user/pictures", type)
                #expect(try answer.status == 201 && answer.json == uploaded, "\(size): \(answer)")
                let asked = try #require(messaging.asked.last)
                #expect(asked.name == "picture.add" && asked.fields == [:] && asked.actor == "ann", "\(asked.fields)")
                #expect(asked.bytes == bytes, "\(size)")
            }
            let report = try await ann.upload(Data([1]), to: "/user/pictures?report=true")
            #expect(report.status == 201 && messaging.asked.last?.fields == ["report": true], "\(report)")
        }
    }

    @Test("What is too large, has no size or no bytes, is compressed or of another type does not reach the messaging service")
    func refused() async throws {
        try await withPerson { ann, messaging in
            let large = Data(count: MessagingLimits.maxPictureBytes + 1)
            let tooLarge = try await ann.upload(large, to: "/user/pictures")
            #expect(tooLarge.status == 413 && tooLarge.problem == "body-too-large", "\(tooLarge)")
            #expect(tooLarge.text.contains("1048576 bytes") && tooLarge["connection"] == "close", "\(tooLarge)")
            let requests: [(bytes: Data, type: String, headers: [String: String], status: Int, field: String)] = [
                (Data([1]), "application/octet-stream", [:], 415, "Content-Type"),
                (Data([1]), "image/svg+xml", [:], 415, "Content-Type"),
                (Data([1]), "image/png", ["Content-Encoding": "gzip"], 415, "Content-Encoding"),
                (Data(), "image/png", [:], 400, "picture"),
            ]
            for request in requests {
                let answer = try await ann.upload(request.bytes, to: "/user/pictures", request.type, headers: request.headers)
                #expect(
                    answer.status == request.status && answer.object["field"] as? String == request.field, "\(request) \(answer)")
            }
            let head = "POST /user/pictures HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\(ann.authorization)\r\n"
            let chunked = head + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
            let unsized = try #require(try await HTTPConversation.send(Array(chunked.utf8), to: ann.port))
            #expect(unsized.status == 400 && unsized.object["field"] as? String == "Content-Length", "\(unsized)")
            #expect(messaging.asked.isEmpty)
            // The rest of the API has its own limit.
            let json = try await ann.request(
                "POST", "/user/messages", body: #"{"to":"bob","text":"\#(String(repeating: "x", count: 65_536))"}"#)
            #expect(json.status == 413 && json.text.contains("65536 bytes"), "\(json)")
        }
    }

    @Test("Why a picture is refused is told as the messaging service says it")
    func reasons() async throws {
        try await withPerson { ann, messaging in
            let failures: [(CommandFailure, Int, String)] = [
                (CommandFailure(.invalid, "picture: it is animated", field: "picture"), 400, "invalid-field"),
                (CommandFailure(.conflict, "50 uploads wait"), 409, "conflict"),
                (CommandFailure(.storageFull, "no room"), 507, "storage-full"),
            ]
            for (failure, status, problem) in failures {
                messaging.fail("picture.add", failure)
                let answer = try await ann.upload(Data([1]), to: "/user/pictures")
                #expect(answer.status == status && answer.problem == problem, "\(answer)")
                #expect(answer.object["detail"] as? String == failure.message, "\(answer)")
                #expect(answer.object["field"] as? String == failure.field, "\(answer)")
            }
        }
    }

    @Test("Pictures of persons are attachments of their own type that no cache keeps")
    func answers() async throws {
        try await withPerson { ann, _ in
            let id = ObjectID()
            let targets = ["/user/messages/\(id)/picture", "/user/statuses/\(id)/picture", "/users/ann/picture"]
            for target in targets {
                let accepting = ["Accept-Encoding": "gzip"]
                Self.expectPicture(try await ann.request("GET", target, headers: accepting))
                let head = try await ann.request("HEAD", target)
                #expect(head.status == 200 && head.body.isEmpty, "\(target): \(head)")
                #expect(head["Content-Length"] == "\(MessagingDouble.picture.count)", "\(target): \(head.headers)")
                #expect(try await ann.with(token: nil).request("GET", target).status == 401, "\(target)")
            }
        }
    }

    @Test("A published picture has an address at the hub's public URL, where everybody reads it for ever")
    func published() async throws {
        try await withOperator(settings: ["MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu"]) { gateway, messaging in
            let made = try await gateway.upload(Data([1, 2]), to: "/pictures")
            let path = "/pictures/\(UploadedPicture.example.id).jpg"
            #expect(made.status == 201 && made["Location"] == path, "\(made) \(made.headers)")
            #expect(made.object["url"] as? String == "https://hub.example.edu\(path)", "\(made)")
            #expect(messaging.asked.last?.name == "picture.publish" && messaging.asked.last?.bytes == Data([1, 2]))
            for reader in [gateway, gateway.with(token: nil)] {
                let read = try await reader.request("GET", path)
                Self.expectPicture(read, cacheControl: "public, max-age=31536000, immutable")
                let asked = try #require(messaging.asked.last)
                #expect(asked.fields == ["id": .string("\(UploadedPicture.example.id)"), "of": "published"])
                // Whoever reads it is nobody.
                #expect(asked.actor == nil)
            }
            let count = messaging.asked.count
            // The last one has another type.
            for name in ["\(ObjectID())", "\(ObjectID()).svg", "x.png", ".png", "%00.png", "\(ObjectID()).png"] {
                #expect(try await gateway.request("GET", "/pictures/\(name)").status == 404, "\(name)")
            }
            #expect(messaging.asked.count == count + 1)
            messaging.fail("picture.read", CommandFailure(.notFound, "no such picture"))
            let gone = try await gateway.request("GET", "/pictures/\(ObjectID()).jpg")
            #expect(gone.status == 404 && gone["Cache-Control"] == "no-store", "\(gone) \(gone.headers)")
        }
    }

    @Test("Without a public URL nobody could fetch a published picture, so it is refused with the reason")
    func withoutPublicURL() async throws {
        try await withOperator { gateway, messaging in
            let answer = try await gateway.upload(Data([1]), to: "/pictures")
            #expect(answer.status == 409 && answer.problem == "conflict", "\(answer)")
            #expect(answer.text.contains("MSI_GATEWAY_PUBLIC_URL") && messaging.asked.isEmpty, "\(answer)")
        }
    }

    @Test("Super users read reports one by one, each with a command that the audit log has, also for the picture")
    func reports() async throws {
        try await withOperator { gateway, messaging in
            let id = ObjectID()
            let expected: [(String, String, String, JSONValue)] = [
                ("GET", "/reports?open=true&limit=2&after=x", "message_report.list", ["after": "x", "limit": 2, "open": true]),
                ("GET", "/reports/\(id)", "message_report.get", ["id": .string("\(id)")]),
                ("PUT", "/reports/\(id)/closed", "message_report.close", ["id": .string("\(id)")]),
                ("GET", "/calls", "messaging.counts", [:]),
            ]
            for (method, target, command, fields) in expected {
                let answer = try await gateway.request(method, target)
                let asked = try #require(messaging.asked.last)
                #expect(answer.status == 200 && asked.name == command && asked.fields == fields, "\(target): \(answer)")
                #expect(asked.actor == TestOperator.account, "\(target)")
            }
            let page = try await gateway.request("GET", "/reports?limit=2")
            #expect(page["link"] == "</reports?limit=2&after=r%2B1>; rel=\"next\"", "\(page.headers)")
            let count = messaging.asked.count
            Self.expectPicture(try await gateway.request("GET", "/reports/\(id)/picture"))
            let asked = messaging.asked.dropFirst(count)
            #expect(asked.map(\.name) == ["message_report.get", "picture.read"])
            #expect(asked.last?.fields == ["id": .string("\(id)"), "of": "report"])
            messaging.fail("message_report.get", CommandFailure(.notFound, "no such report"))
            #expect(try await gateway.request("GET", "/reports/\(id)/picture").status == 404)
            #expect(messaging.asked.last?.name == "message_report.get")
        }
    }
}

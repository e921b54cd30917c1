import Bus
import FoundationEssentials
import HTTPTransport
import Schemas
import Synchronization
import Testing
import Base

@testable import FCMRelay

@Suite("The topics of a phone", .timeLimit(.minutes(10)))
struct PhoneTopicsTests {
    private static func project(
        _ id: String, _ answer: @escaping @Sendable (HTTPTransportRequest) async -> HTTPTransportOutcome
    ) -> Project {
        .sample(id, RecordingSender(), google: .sample(TransportDouble(answer)), rate: 1_000)
    }

    /// A project whose topic service always gives the same answer.
    private static func project(_ id: String, _ status: Int, _ body: String) -> Project {
        project(id) { _ in .success(HTTPTransportResponse(status: status, body: Data(body.utf8))) }
    }

    private static func list(_ projects: [Project], within time: Milliseconds? = nil) async throws -> [String] {
        let handler = TopicHandler(projects: Projects(standard: projects[0], others: projects.dropFirst().map { ($0, []) }))
        let context = CommandContext(id: "1", command: ListTopics.name, deadline: time.map { .now + $0 }, logger: .quiet)
        return try await handler.list(ListTopics(token: "t"), context).topics
    }

    private static let known = #"{"rel":{"topics":{"b":{"addDate":"2026-07-30"},"a":{"addDate":"2026-07-30"}}}}"#
    private static let unknown = #"{"error":"No information found about this instance id."}"#

    @Test(
        "Only an answer about the phone means that it is unknown; a refusal of the hub itself is a failure of the hub",
        arguments: [
            (404, unknown, ReplyStatus.notFound, ""), (400, #"{"error":"InvalidToken"}"#, .notFound, ""),
            (403, #"{"error":{"code":403,"message":"-","status":"SENDER_ID_MISMATCH"}}"#, .notFound, ""),
            (403, #"{"error":"Forbidden"}"#, .unavailable, "HTTP_403"),
            (403, #"{"error":{"code":403,"message":"-","status":"PERMISSION_DENIED"}}"#, .unavailable, "PERMISSION_DENIED"),
            (401, #"{"error":"Unauthorized"}"#, .unavailable, "HTTP_401"),
            (405, "", .unavailable, "HTTP_405"), (503, "", .unavailable, "HTTP_503"),
        ])
    func refusals(status: Int, body: String, expected: ReplyStatus, code: String) async throws {
        let failure = await #expect(throws: CommandFailure.self) {
            try await Self.list([Self.project("campus", status, body)])
        }
        #expect(failure?.status == expected && failure?.message.hasPrefix(code) == true, "\(String(describing: failure))")
        #expect(failure?.field == (expected == .notFound ? "token" : nil))
    }

    @Test("The project that knows the phone answers, even if others refuse; otherwise the one that may know it has failed")
    func severalProjects() async throws {
        func projects(_ answers: (Int, String)...) -> [Project] {
            answers.enumerated().map { Self.project("p\($0.offset)", $0.element.0, $0.element.1) }
        }
        #expect(try await Self.list(projects((403, ""), (404, Self.unknown), (200, Self.known))) == ["a", "b"])
        let failure = await #expect(throws: CommandFailure.self) {
            try await Self.list(projects((404, Self.unknown), (403, ""), (503, ""), (404, Self.unknown)))
        }
        #expect(failure?.status == .unavailable && failure?.message.hasPrefix("HTTP_403") == true)
    }

    @Test("The longest list of a phone's topics is not too long for the transport")
    func longestList() {
        #expect(CurlConfiguration.fcm().maxBodyBytes > 2_000 * (900 + #""":{"addDate":"2015-07-30"},"#.utf8.count))
    }

    @Test("A project whose topic service does not answer leaves time for the others")
    func hanging() async throws {
        let deadlines = Mutex<[ContinuousClock.Instant]>([])
        let projects = ["hanging", "campus"].map { id in
            Self.project(id) { request in
                deadlines.withLock { $0.append(request.deadline) }
                return id == "hanging"
                    ? .failure(TransportError(.timeout, "no answer"))
                    : .success(HTTPTransportResponse(status: 200, body: Data(Self.known.utf8)))
            }
        }
        #expect(try await Self.list(projects, within: .seconds(18)) == ["a", "b"])
        let (first, second) = try deadlines.withLock { (try #require($0.first), try #require($0.last)) }
        // The first had half of the time; otherwise both would have had the 15 seconds of a request.
        #expect(second - first > .seconds(1))
    }
}

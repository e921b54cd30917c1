import Base
import FoundationEssentials
import NIOHTTP1
import Schemas
import TestSupport
import Testing

/// A student with a friend, to whom she has written and shown pictures, and others who are none, or none any more.
struct MessagingScene: Sendable {
    let ann: TestStudent
    /// Her friend.
    let ben: TestStudent
    /// Nobody to her; somebody whom she has blocked; somebody who is no friend any more. The last two have got a message before.
    let cleo: TestStudent
    let dora: TestStudent
    let eli: TestStudent
    let message: DirectMessage
    let pictured: DirectMessage
    let status: OwnStatus

    private static let text = "The spare key is behind the third radiator"
    private static let palette = "a-picture-for-a-friend-and-for-nobody-else-at-al"
    private static let picture = TestPicture.png(palette: palette)
    private static let portrait = TestPicture.png(palette: "the-portrait-of-a-person-whom-only-friends-know.")

    init(at stack: Stack) async throws {
        func register(_ name: String) async throws -> TestStudent {
            try await TestStudent.register("scene-\(name)", at: stack.portal)
        }
        ann = try await register("ann")
        ben = try await register("ben")
        cleo = try await register("cleo")
        dora = try await register("dora")
        eli = try await register("eli")
        for friend in [ben, dora, eli] { try await ann.befriend(friend) }
        for person in [ben, cleo, dora, eli] { _ = try await person.news() }
        for friend in [dora, eli] { _ = try await ann.write(Self.text, to: friend.account) }
        message = try await ann.write(Self.text, to: ben.account)
        pictured = try await ann.show(ann.uploaded(Self.picture), to: ben.account)
        status = try await ann.setStatus(picture: ann.uploaded(Self.picture))
        let portrait = try await ann.uploaded(Self.portrait)
        for (method, path, body, expected) in [
            (.PUT, "/user/picture", ["picture": .string("\(portrait.id)")], 204),
            (.PUT, "/user/profile", ["visibility": ["picture": "friends"]], 200),
            (.PUT, "/user/blocked/\(dora.account)", nil, 204), (.DELETE, "/user/friends/\(eli.account)", nil, 204),
        ] as [(HTTPMethod, String, JSONValue?, Int)] {
            let answer = try await ann.call(method, path, body)
            guard answer.status == expected else { throw UnexpectedAnswer(answer) }
        }
    }

    /// The paths of the pictures, with what they are.
    private var pictures: [(path: String, bytes: Data)] {
        [
            ("/user/messages/\(pictured.id)/picture", Self.picture), ("/user/statuses/\(status.id)/picture", Self.picture),
            ("/users/\(ann.account)/picture", Self.portrait),
        ]
    }

    // MARK: Who sees it

    func expectAll(for friend: TestStudent) async throws {
        let news = try await friend.news()
        #expect(news.messages.map(\.id) == [message.id, pictured.id])
        let statuses: StatusList = try await friend.document(.GET, "/user/statuses")
        #expect(statuses.statuses.map(\.id) == [status.id])
        for (path, bytes) in pictures {
            let answer = try await friend.call(.GET, path)
            #expect(answer.status == 200 && answer.body == bytes, "\(path): \(answer.status)")
            #expect(answer["Content-Type"] == TestPicture.mediaType && answer["X-Content-Type-Options"] == "nosniff", "\(path)")
            #expect(answer["Content-Disposition"]?.hasPrefix("attachment") == true, "\(path): \(answer.headers)")
            #expect(answer["Cache-Control"]?.contains("no-store") == true, "\(path): \(answer.headers)")
        }
    }

    // MARK: Who does not

    /// By every route, and by every id.
    func expectNothing(for person: TestStudent) async throws {
        let others = [ann, ben].map(\.account).filter { $0 != person.account }
        for path in pictures.map(\.path) + others.map({ "/user/conversations/\($0)" }) {
            let answer = try await person.call(.GET, path)
            #expect(answer.status == 404, "\(person.account) \(path): \(answer)")
            expectNoSecret(in: answer, for: person)
        }
        // Soon after another one a poll is refused.
        for path in ["/user/messages?after=0&limit=200", "/user/statuses"] {
            let answer = try await eventually("\(path) is answered to \(person.account)") {
                let answer = try await person.call(.GET, path)
                return answer.status == 429 ? nil : answer
            }
            #expect(answer.status == 200, "\(path): \(answer)")
            expectNoSecret(in: answer, for: person)
        }
        for (method, path, body, expected) in [
            (.POST, "/user/messages", ["to": .string(ann.account), "text": "Hello"], [404]),
            (.PUT, "/user/messages/\(message.id)/read", nil, [204, 404]),
            (.PUT, "/user/statuses/seen", ["statuses": [.string("\(status.id)")]], [204]),
            (.GET, "/reports", nil, [403]), (.GET, "/reports/\(message.id)", nil, [403]),
        ] as [(HTTPMethod, String, JSONValue?, Set<Int>)] {
            let answer = try await person.call(method, path, body)
            #expect(expected.contains(answer.status), "\(person.account) \(path): \(answer)")
            expectNoSecret(in: answer, for: person)
        }
        guard person.account != ben.account else { return }
        // A guess is not confirmed, even if it is right.
        let report: ReportMessage.Reply = try await person.document(
            .POST, "/user/reports",
            ["message": .string("\(message.id)"), "account": .string(ann.account), "text": .string(Self.text)], status: 201)
        #expect(report.verdict == .unverifiable, "\(person.account)")
    }

    /// Super users see what is reported, and nothing else; the others not even that.
    func expectNothingForStaff(at stack: Stack) async throws {
        let communicator = try await Communicator("scene-communicator", stack.portal)
        let reports = try await stack.portal.all("reports", at: "/reports")
        #expect(!reports.isEmpty)
        for path in pictures.map(\.path) + ["/user/messages", "/user/conversations/\(ben.account)", "/user/statuses"] {
            for answer in [try await stack.portal.call(.GET, path), try await communicator.call(.GET, path)] {
                #expect(answer.status == 403, "\(path): \(answer)")
            }
        }
        for path in ["/reports"] + reports.compactMap({ $0["id"]?.string }).map({ "/reports/\($0)" }) {
            let answer = try await communicator.call(.GET, path)
            #expect(answer.status == 403, "\(path): \(answer)")
        }
    }

    private func expectNoSecret(in answer: HTTPAnswer, for person: TestStudent) {
        for secret in [Self.text, Self.palette, "\(message.id)", "\(pictured.id)", "\(status.id)"] {
            #expect(answer.body.firstRange(of: Data(secret.utf8)) == nil, "\(person.account) sees \(secret)")
        }
    }
}

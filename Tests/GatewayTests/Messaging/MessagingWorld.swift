import Base
import Foundation
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// Ann and Bob, who are friends and have written to each other, and others for whom nothing of that is. The services are the real
/// ones.
struct MessagingWorld: Sendable {
    /// How another person stands to Ann. All but the stranger were her friends, and have got messages of her.
    enum Outsider: String, CaseIterable {
        case stranger, unfriended
        /// Ann has blocked the other.
        case blocked
        /// The other has blocked Ann.
        case blocking
    }

    /// What requests are about.
    struct Objects: Sendable {
        let account: String
        /// A text, and a picture.
        let message: String
        let picture: String
        let status: String
        let upload: String
    }

    /// A request about something of another person.
    struct Request: Sendable {
        let method: String
        /// Of the route.
        let path: String
        let target: String
        let body: JSONValue?

        init(_ method: String, _ path: String, _ target: String? = nil, _ body: JSONValue? = nil) {
            (self.method, self.path, self.target, self.body) = (method, path, target ?? path, body)
        }
    }

    let gateway: RunningGateway
    let ann: DeviceSession
    let bob: DeviceSession
    let outsiders: [(relation: Outsider, device: DeviceSession)]
    /// Ann's.
    let objects: Objects

    static let text = "The key is under the fern"
    private static let earlier = "Meet me at the old mill"
    /// The texts, which are the palettes of pictures as well.
    static let secrets = [text, earlier, "Ann's picture for Bob", "Ann's picture for a day", "Ann's own picture"]
    static let pictures = secrets.dropFirst(2).map { TestPicture.png(palette: $0) }

    /// The routes that ask for one's own alone.
    static let ownRoutes: Set = [
        "GET /user/messages", "GET /getMessage", "PUT /user/messages/received", "GET /user/messaging", "PUT /user/messaging",
        "GET /user/status", "DELETE /user/status", "GET /user/statuses", "GET /getStatus", "POST /user/pictures",
        "DELETE /user/picture",
    ]

    init(at gateway: RunningGateway) async throws {
        let (ann, bob) = (try await gateway.student("wann"), try await gateway.student("wbob"))
        try await ann.befriend(bob)
        let message = try await ann.make("/user/messages", ["to": "wbob", "text": .string(Self.text)])
        let (first, second) = (try await ann.upload(Self.pictures[0]), try await ann.upload(Self.pictures[1]))
        let picture = try await ann.make("/user/messages", ["to": "wbob", "picture": .string(first)])
        let status = try await ann.make("/user/status", ["picture": .string(second)])
        let third = try await ann.upload(Self.pictures[2])
        try await ann.expect(204, "PUT", "/user/picture", ["picture": .string(third)])
        try await ann.expect(200, "PUT", "/user/profile", ["visibility": ["picture": "friends"]])
        objects = Objects(
            account: "wann", message: message, picture: picture, status: status,
            upload: try await ann.upload(Self.pictures[0]))
        var outsiders: [(relation: Outsider, device: DeviceSession)] = []
        for relation in Outsider.allCases {
            let device = try await Self.outsider(relation, to: ann, at: gateway)
            outsiders.append((relation, device))
        }
        self.outsiders = outsiders
        (self.gateway, self.ann, self.bob) = (gateway, ann, bob)
    }

    private static func outsider(
        _ relation: Outsider, to ann: DeviceSession, at gateway: RunningGateway
    ) async throws -> DeviceSession {
        let name = "w\(relation)"
        let other = try await gateway.student(name)
        guard relation != .stranger else { return other }
        try await ann.befriend(other)
        _ = try await ann.make("/user/messages", ["to": .string(name), "text": .string(earlier)])
        switch relation {
        case .stranger: break
        case .unfriended: try await ann.expect(204, "DELETE", "/user/friends/\(name)")
        case .blocked: try await ann.expect(204, "PUT", "/user/blocked/\(name)")
        case .blocking: try await other.expect(204, "PUT", "/user/blocked/\(ann.account)")
        }
        return other
    }

    /// Runs a test with a gateway, the services that persons need, and the persons.
    static func with(_ body: (MessagingWorld) async throws -> Void) async throws {
        try await RunningGateway.withMessaging { gateway in try await body(MessagingWorld(at: gateway)) }
    }

    /// A request to each route that names something of another person.
    static func requests(about objects: Objects) -> [Request] {
        let (account, upload) = (JSONValue.string(objects.account), JSONValue.string(objects.upload))
        let (messages, statuses) = ("/user/messages", "/user/statuses")
        let greeting: JSONValue = ["to": account, "text": "Hello"]
        let report: JSONValue = ["message": .string(objects.message), "account": account]
        return [
            Request("POST", messages, nil, greeting), Request("POST", "/sendMessage", nil, greeting),
            Request("PUT", "\(messages)/:id/read", "\(messages)/\(objects.message)/read"),
            Request("GET", "\(messages)/:id/picture", "\(messages)/\(objects.picture)/picture"),
            Request("GET", "/user/conversations/:account", "/user/conversations/\(objects.account)"),
            Request("POST", "/user/status", nil, ["picture": upload]), Request("POST", "/sendStatus", nil, ["picture": upload]),
            Request("PUT", "\(statuses)/seen", nil, ["statuses": [.string(objects.status)]]),
            Request("GET", "\(statuses)/:id/picture", "\(statuses)/\(objects.status)/picture"),
            Request("PUT", "/user/picture", nil, ["picture": upload]),
            Request("GET", "/users/:id/picture", "/users/\(objects.account)/picture"),
            // A second report of a message would be the first one.
            Request("POST", "/user/reports", nil, report.merging(["picture": upload])),
            Request("POST", "/user/reports", nil, report.merging(["text": "Hello"])),
        ]
    }
}

extension RunningGateway {
    /// As ``with(services:database:people:in:settings:isolation:_:)``, with the services that persons need.
    ///
    /// - Parameter classmates: Whether classmates may write to each other.
    static func withMessaging<Result>(
        classmates: Bool = false, isolation: isolated (any Actor)? = #isolation, _ body: (RunningGateway) async throws -> Result
    ) async throws -> Result {
        let settings = ["MSI_MESSAGING_CLASSMATES": classmates ? "on" : "off"]
        let polls = ["MSI_MESSAGING_POLL": "1"]
        return try await withTemporaryFolder { folder in
            try await withServices([ServiceEntry.people.executable, ServiceEntry.study.executable], in: folder) {
                try await withService(ServiceEntry.messaging.executable, in: folder, settings: polls) { _ in
                    try await with(services: [], in: folder, settings: settings, body)
                }
            }
        }
    }
}

extension DeviceSession {
    /// Makes something by a POST.
    ///
    /// - Returns: Its id.
    func make(_ target: String, _ body: JSONValue) async throws -> String {
        let made = try await expect(201, "POST", target, body)
        return try #require(made.object["id"] as? String)
    }

    /// Uploads a picture.
    ///
    /// - Returns: The id of the upload.
    func upload(_ picture: Data, _ query: String = "") async throws -> String {
        let answer = try await gateway.with(token: token).upload(picture, to: "/user/pictures" + query)
        #expect(answer.status == 201, "\(answer)")
        return try #require(answer.object["id"] as? String)
    }
}

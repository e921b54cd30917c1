import Base
import FoundationEssentials
import NIOHTTP1
import Schemas
import TestSupport
import Testing

extension HarmTests.HarmedProduct {
    /// Messages between students from outside: with kills of their service, and as everybody whom they are not for.
    @Suite("Messages between students")
    struct MessagingSystemTests {
        @Test(
            "A message lives through a kill of its service, is pushed once without its text, and goes when each device has it and it was read",
            .timeLimit(.minutes(10)))
        func life() async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            let ann = try await TestStudent.register("life-ann", at: stack.portal)
            let ben = try await TestStudent.register("life-ben", at: stack.portal, on: TestDevice(.android))
            let tablet = try await TestStudent.signIn("life-ben", at: stack.portal)
            try await ann.befriend(ben)
            let phone = try await Phone.register(at: stack.fcm)
            try await ben.register(phone: phone.token)
            // A device takes part from its first fetch on.
            for device in [ann, ben, tablet] { _ = try await device.news() }

            let text = "Are you coming at three? The key is under the fern."
            let header = ["Authorization": "Bearer \(tablet.portal.token ?? "")"]
            let message = try await EventStreamClient.with(
                "http://127.0.0.1:\(stack.portal.port)/user/events", headers: header, http: stack.portal.http
            ) { events in
                // The push waits in the messaging service.
                let sent = try await stack.whileFrozen("msi-message-log") {
                    let sent = try await ann.write(text, to: ben.account, key: "three")
                    try await stack.killAndReplace("msi-messaging")
                    return sent
                }
                try await stack.healthy()
                // What the kill has cost may be an event: then the stream says that all messages are to be fetched.
                try await eventually("an open app is told") {
                    events.events("person").contains { $0["id"]?.string == "\(sent.id)" }
                        || events.events("reset").contains { $0["service"]?.string == "messaging" }
                }
                return sent
            }
            let push = try await eventually("the push") { try await pushes(about: message.id, at: stack.fcm).first }
            #expect(push["token"]?.string == phone.token)
            #expect(!push.text.contains("fern") && !push.text.contains(ann.account), "\(push)")

            // After a push, a fetch is no poll.
            let news = try await ben.news(prompt: message.id)
            #expect(news.messages.map(\.text) == [text])
            let refused = try await eventually("a poll that comes too soon") {
                let answer = try await ben.fetch(after: news.after)
                return answer.status == 429 ? answer : nil
            }
            #expect(refused["Retry-After"] != nil, "\(refused)")
            #expect(try await ben.fetch(after: news.after, prompt: message.id).status == 200)

            try await ben.confirm(news.after)
            let delivered = try await ann.conversation(with: ben.account).conversation
            #expect(delivered.delivered == message.number && delivered.read == nil, "\(delivered)")
            try await ben.read(message.id)
            let read = try await ann.conversation(with: ben.account).conversation
            #expect(read.read == message.number, "\(read)")
            // The tablet does not have it yet.
            #expect(try await tablet.conversation(with: ann.account).messages.map(\.id) == [message.id])
            try await tablet.confirm(tablet.news(prompt: message.id).after)
            let left = try await eventually("it is removed") {
                let page = try await ben.conversation(with: ann.account)
                return page.messages.isEmpty ? page.conversation : nil
            }
            #expect(left.removed == message.number && left.unread == 0, "\(left)")

            // A repeated request finds what it has made, also when that is gone.
            let again = try await ann.write(text, to: ben.account, key: "three")
            #expect(again.id == message.id && again.removed == true && again.text == nil, "\(again)")
            let other = try await ann.portal.call(
                .POST, "/user/messages", headers: ["Idempotency-Key": "three"], ["to": .string(ben.account), "text": "At four?"])
            #expect(other.status == 422, "\(other)")
            #expect(try await ben.conversation(with: ann.account).messages.isEmpty)
            #expect(try await pushes(about: message.id, at: stack.fcm).count == 1)
        }

        /// What FCM has got about a message.
        private func pushes(about message: ObjectID, at fcm: FCMServer) async throws -> [JSONValue] {
            try await fcm.acceptedSends().compactMap { $0["body"]?["message"] }.filter { sent in
                sent["data"]?["person_kind"]?.string == "direct_message"
                    && sent["data"]?["person_id"]?.string == "\(message)"
            }
        }

        @Test(
            "As everybody else nothing is seen of messages, statuses and pictures: after a block, the end of a friendship and an erasure as well",
            .timeLimit(.minutes(10)))
        func isolation() async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            let scene = try await MessagingScene(at: stack)
            for stranger in [scene.cleo, scene.dora, scene.eli] { try await scene.expectNothing(for: stranger) }
            try await scene.expectNothingForStaff(at: stack)
            try await scene.expectAll(for: scene.ben)
            // Nobody else has left a trace.
            let own: ReadOwnStatus.Reply = try await scene.ann.document(.GET, "/user/status")
            #expect(own.status?.seen == 0)
            #expect(try await scene.ann.conversation(with: scene.ben.account).conversation.read == nil)

            #expect(try await scene.ann.call(.DELETE, "/user/status").status == 204)
            let gone = try await scene.ben.call(.GET, "/user/statuses/\(scene.status.id)/picture")
            #expect(gone.status == 404, "\(gone)")
            let erased = try await scene.ann.call(.POST, "/user/erasure", scene.ann.proof(.erasure))
            #expect(erased.status == 200, "\(erased)")
            try await eventually("erased everywhere") {
                try await stack.msi(["account", "erased"]).lines.first?.hasSuffix(", 0 wait for services") == true
            }
            try await scene.expectNothing(for: scene.ben)
        }
    }
}

extension HarmTests.WithoutSupervisor {
    /// The gateway starts and works without the messaging service.
    @Suite("Without the messaging service")
    struct AbsentMessagingTests {
        @Test("Its routes are 503, and the rest is as ever. Once it is there, they work", .timeLimit(.minutes(10)))
        func absent() async throws {
            try await SharedServices.use { services in
                let portal = services.portal
                let ann = try await TestStudent.register("absent-ann", at: portal)
                let ben = try await TestStudent.register("absent-ben", at: portal)
                try await ann.befriend(ben)
                // Each waits a second for the service.
                try await concurrently(Self.routes.count) { number in
                    let (method, path, body) = Self.routes[number]
                    let answer = try await ann.call(method, path, body)
                    #expect(answer.status == 503 && answer["Retry-After"] != nil, "\(path): \(answer)")
                }
                #expect(try await ann.call(.GET, "/getFriends").status == 200)
                #expect(try await ann.call(.GET, "/users/absent-ben").status == 200)

                let messaging = try await services.start("msi-messaging")
                let message = try await eventually("a message") {
                    try? await ann.write("Hello", to: ben.account, key: "hello")
                }
                #expect(try await ben.news().messages.map(\.id) == [message.id])
                #expect(await messaging.stop() == 0)
            }
        }

        private static let id = "6b0187feff0dafac2833f431"
        private static let routes: [(HTTPMethod, String, JSONValue?)] = [
            (.POST, "/sendMessage", ["to": "absent-ben", "text": "Hello"]), (.GET, "/getMessage", nil),
            (.POST, "/sendStatus", ["text": "In the library"]), (.GET, "/getStatus", nil),
            (.POST, "/user/messages", ["to": "absent-ben", "text": "Hello"]), (.GET, "/user/messages", nil),
            (.PUT, "/user/messages/received", ["after": 1]), (.GET, "/user/conversations/absent-ben", nil),
            (.PUT, "/user/messages/\(id)/read", nil), (.GET, "/user/messages/\(id)/picture", nil),
            (.GET, "/user/status", nil), (.DELETE, "/user/status", nil), (.GET, "/user/messaging", nil),
            (.PUT, "/user/statuses/seen", ["statuses": [.string(id)]]), (.PUT, "/user/picture", ["picture": .string(id)]),
            (.POST, "/user/reports", ["message": .string(id), "account": "absent-ben", "text": "Hello"]),
        ]
    }
}

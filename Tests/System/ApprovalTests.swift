import JSON
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.HarmedProduct {
    /// Messages that a second person must approve.
    @Suite("Approval")
    struct ApprovalTests {
        @Test("A held message reaches the phone only after another account has approved it, whatever is killed before")
        func approved() async throws {
            try await expectApproval(in: SharedStack.current)
        }

        @Test("The same with MongoDB", .atLength)
        func approvedInMongoDB() async throws {
            try await withStack(settings: ["MSI_DATABASE_URL": MongoServer.shared.url()]) { try await expectApproval(in: $0) }
        }

        private func expectApproval(in stack: Stack) async throws {
            let subject = try await stack.portal.makeSubject("Alert")
            let path = "/approval/\(subject.channel)/\(subject.area)/\(subject.subject)"
            #expect(try await stack.portal.call(.PUT, path, ["approval": true]).status == 200)
            let ann = try await Self.communicator("ann", of: stack)
            let ben = try await Self.communicator("ben", of: stack)
            let bensCookie = try await Self.signIn("ben", at: stack)
            let benInBrowser = stack.portal.with(token: nil)
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                var drill = subject.message(title: "Fire")
                drill["drill"] = true
                let held = try await Self.post(drill, by: ann)
                let recalled = try await Self.post(subject.message(title: "Recalled"), by: ann)
                #expect(try await ann.call(.DELETE, "/message/\(recalled)").status == 200)
                for service in ["msi-message-log", "msi-fcm-relay", "msi-gateway"] { try await stack.killAndReplace(service) }
                try await stack.healthy()

                // A message to another subject has gone out since.
                let other = try await stack.portal.makeSubject("Alert", in: subject.channel, subject.area)
                let later = try await eventually("a message to another subject") {
                    try await ann.post(other.message()).json["msi_key"]?.string
                }
                _ = try await ann.message(later, hasState: "relayed")
                #expect(try await ann.message(held)["relay"]?["state"] == "held")
                #expect(try await ann.call(.POST, "/message/\(held)/approve").status == 403)
                #expect(try await stack.fcm.acceptedSends(to: subject.topicKey).isEmpty)

                // A script is no second person.
                #expect(try await ben.call(.POST, "/message/\(held)/approve").status == 403)
                let approval = try await benInBrowser.call(.POST, "/message/\(held)/approve", headers: bensCookie)
                #expect(approval.status == 200, "\(approval)")
                let events = try await phone.events(2)
                #expect(Set(events.map(\.msiKey)) == [held])
                let data = try #require(events.first { $0.component == "data" }).json["data"]
                #expect(data?["title"] == "[DRILL] Fire")
                let relayed = try await ben.message(held, hasState: "relayed")
                #expect(relayed["relay"]?["trace"]?.array.map { $0["by"] } == ["ben"])
                #expect(relayed["sender"] == "ann" && relayed["approval"] == true)
                #expect(try await benInBrowser.call(.POST, "/message/\(held)/approve", headers: bensCookie).status == 409)
                #expect(try await benInBrowser.call(.POST, "/message/\(recalled)/approve", headers: bensCookie).status == 409)
            }
        }

        private static func post(_ message: JSONValue, by portal: Portal) async throws -> String {
            let answer = try await portal.post(message)
            guard answer.status == 201, try answer.json["state"] == "held", let key = try answer.json["msi_key"]?.string else {
                throw UnexpectedAnswer(answer)
            }
            return key
        }

        private static let password = "a long password of a test"

        /// The header fields of a browser in which an account has signed in.
        private static func signIn(_ name: String, at stack: Stack) async throws -> [String: String] {
            let answer = try await stack.portal.with(token: nil).call(
                .POST, "/session", ["account": "\(name)", "password": "\(password)"])
            guard answer.status == 201, let cookie = answer["Set-Cookie"]?.prefix(while: { $0 != ";" }) else {
                throw UnexpectedAnswer(answer)
            }
            return ["Cookie": String(cookie), "Sec-Fetch-Site": "same-origin"]
        }

        /// A portal that acts for a new communicator.
        private static func communicator(_ name: String, of stack: Stack) async throws -> Portal {
            let account: JSONValue = ["account": "\(name)", "password": "\(password)", "role": "communicator"]
            let added = try await stack.portal.call(.POST, "/account", account)
            guard added.status == 201 else { throw UnexpectedAnswer(added) }
            let token = try await stack.portal.call(
                .POST, "/token", ["name": "test", "account": "\(name)", "rights": ["read", "send"]])
            guard token.status == 201, let secret = try token.json["secret"]?.string else { throw UnexpectedAnswer(token) }
            return stack.portal.with(token: secret)
        }
    }
}

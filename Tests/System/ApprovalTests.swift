import Base
import NIOHTTP1
import TestSupport
import Testing

extension HarmTests.HarmedProduct {
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
            let ann = stack.portal.with(token: try await Communicator("ann", stack.portal).makeToken())
            let benInBrowser = try await Communicator("ben", stack.portal)
            let ben = stack.portal.with(token: try await benInBrowser.makeToken())
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

                // A script is not a second person.
                #expect(try await ben.call(.POST, "/message/\(held)/approve").status == 403)
                let approval = try await benInBrowser.call(.POST, "/message/\(held)/approve")
                #expect(approval.status == 200, "\(approval)")
                let events = try await phone.events(2)
                #expect(Set(events.map(\.msiKey)) == [held])
                let data = try #require(events.first { $0.component == "data" }).json["data"]
                #expect(data?["title"] == "[DRILL] Fire")
                let relayed = try await ben.message(held, hasState: "relayed")
                #expect(relayed["relay"]?["trace"]?.array.map { $0["by"] } == ["ben"])
                #expect(relayed["sender"] == "ann" && relayed["approval"] == true)
                #expect(try await benInBrowser.call(.POST, "/message/\(held)/approve").status == 409)
                #expect(try await benInBrowser.call(.POST, "/message/\(recalled)/approve").status == 409)
            }
        }

        private static func post(_ message: JSONValue, by portal: Portal) async throws -> String {
            let answer = try await portal.post(message)
            guard answer.status == 201, try answer.json["state"] == "held", let key = try answer.json["msi_key"]?.string else {
                throw UnexpectedAnswer(answer)
            }
            return key
        }
    }
}

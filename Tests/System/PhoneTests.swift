import FoundationEssentials
import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// What the hub answers to phones.
    @Suite("Phones")
    struct PhoneTests {
        let stack: Stack
        let portal: Portal

        init() throws {
            stack = try SharedStack.current
            portal = stack.portal
        }

        private func since(_ topics: [String], after: String? = nil) async throws -> JSONValue {
            var body: JSONValue = ["topics": .array(topics.map { .string($0) })]
            body["after"] = after.map { .string($0) }
            let answer = try await portal.with(token: nil).call(.POST, "/message/since", body)
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            return try answer.json
        }

        @Test("A phone fetches what FCM has accepted, with the seed's seven fields, in order and page by page")
        func missed() async throws {
            let subject = try await portal.makeSubject("Alert")
            let other = try await portal.makeSubject("Information", name: "Other")
            #expect(try await since(["\(subject.topicKey)"])["messages"] == [])
            var keys: [String] = []
            for number in 0..<120 {
                keys.append(try await portal.accepted(subject.message(title: "\(number)", desc: "d", message: "text")))
            }
            _ = try await portal.post(other.message(title: "other", desc: "", message: "text"))
            let topics = ["\(subject.topicKey)"]
            try await eventually("all are accepted") {
                var (found, next) = ([String](), String?.none)
                while true {
                    let page = try await since(topics, after: next)
                    let messages = try #require(page["messages"]?.elements)
                    #expect(messages.count <= 100)
                    found += messages.compactMap { $0["msi_key"]?.string }
                    let position = page["next"]?.string
                    if messages.count < 100 { break }
                    next = position
                }
                return found.count == Set(found).count && Set(found) == Set(keys)
            }
            let first = try #require(try await since(topics)["messages"]?.elements?.first)
            #expect(
                first.members?.map(\.name).sorted()
                    == ["desc", "dist", "message", "msi_key", "timestamp", "title", "topic_key"])
            #expect(first["dist"] == "Alert" && first["desc"] == "d" && first["topic_key"] == .string(topics[0]))
        }

        // MARK: The simulated phone

        @Test(
            "The phone's page answers HTTP/1.0 with a length, without chunks, and with the end of the connection",
            arguments: [
                ("GET", "/", nil, 200), ("GET", "/control", nil, 200), ("GET", "/files/1/none", nil, 404),
                ("PUT", "/control", "{}", 200), ("PUT", "/control", "x", 400),
            ] as [(String, String, String?, Int)])
        func oldClients(method: String, target: String, body: String?, status: Int) async throws {
            let port = try #require(stack.phonePort)
            for fields in [[], ["Host: 127.0.0.1"], ["Expect: 100-continue"]] {
                let request = HTTPConversation.oldRequest(method, target, fields, body: body)
                let answer = try #require(try await HTTPConversation.send(request, to: port))
                #expect(answer.status == status && answer.isForOldClient, "\(fields): \(answer)")
                #expect(answer["content-length"] != nil, "\(fields)")
            }
        }

        @Test("A client of the phone's page that expects 100 Continue gets it before the answer")
        func expectation() async throws {
            let request = HTTPConversation.request(
                "PUT", "/control", headers: ["Expect": "100-continue"], body: Array("{}".utf8))
            let answer = try await HTTPConversation.send(request, to: try #require(stack.phonePort))
            #expect(answer?.status == 100 && answer?.text.hasPrefix("HTTP/1.1 200 ") == true)
        }

        private func control(_ change: JSONValue) async throws {
            let answer = try await page().call(.PUT, "/control", change)
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        }

        private func page() throws -> Portal {
            Portal(port: try #require(stack.phonePort), http: portal.http, token: nil)
        }

        /// The messages that the phone shows.
        private func shown() async throws -> [String] {
            try await page().call(.GET, "/export?format=json").json.array.compactMap { $0["msi_key"]?.string }
        }

        /// Posts a message of a new Forced subject, and waits until the phone shows it.
        private func received() async throws -> String {
            let subject = try await portal.makeSubject("Alert", level: "Forced")
            let key = try await portal.accepted(subject.message())
            _ = try await portal.message(key, hasState: "relayed")
            try await eventually("the phone shows the message", every: .milliseconds(100)) {
                _ = try await page().call(.POST, "/refresh")
                return try await shown().contains(key)
            }
            return key
        }

        /// The phone's registration at FCM; `nil` before it has one.
        private func registration() throws -> String? {
            let file = FileManager.default.contents(atPath: stack.stateDirectory + "/phones/phone.json")
            return try JSONValue(parsing: try #require(file))["token"]?.string
        }

        @Test("The other platform is another phone: it has no messages, and FCM no longer has the earlier one")
        func otherPlatform() async throws {
            let key = try await received()
            let earlier = try #require(try registration())
            try await control(["platform": "ios"])
            try await eventually("it has no messages") { try await shown().isEmpty }
            try await eventually("FCM does not have the earlier one", every: .milliseconds(500)) {
                try await portal.with(token: nil).call(.POST, "/phone/topics", ["token": .string(earlier)]).status == 404
            }
            #expect(try await page().call(.POST, "/permission", ["granted": true]).status == 204)
            // A new phone shows the week's messages.
            try await eventually("it shows the message") { try await shown().contains(key) }
            #expect(try registration() != earlier)
            try await control(["platform": "android"])
        }

        @Test("An app that is ended and opened at once has started again: it has cleared old messages")
        func quickRestart() async throws {
            let key = try await received()
            try await control(["clock_offset": .integer(8 * 86_400)])
            #expect(try await shown().contains(key))
            for isKilled in [true, false] { try await control(["killed": .boolean(isKilled)]) }
            try await eventually("the old message is cleared") { try await !shown().contains(key) }
            try await control(["clock_offset": 0])
        }
    }
}

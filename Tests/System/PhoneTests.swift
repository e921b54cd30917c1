import JSON
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// What the hub answers to phones.
    @Suite("Phones", .serialized, .stack())
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
                let posted = try await portal.post(subject.message(title: "\(number)", desc: "d", message: "text"))
                keys.append(try #require(try posted.json["msi_key"]?.string))
            }
            _ = try await portal.post(other.message(title: "other", desc: "", message: "text"))
            let topics = ["\(subject.topicKey)"]
            try await eventually("all are accepted", within: .seconds(60)) {
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

        @Test("The hub says which topics FCM has for a phone, and that it does not know one")
        func topics() async throws {
            let subject = try await portal.makeSubject("Alert")
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                let answer = try await portal.with(token: nil).call(.POST, "/phone/topics", ["token": .string(phone.token)])
                #expect(try answer.json == ["topics": [.string("\(subject.topicKey)")]])
            }
            let unknown = try await portal.with(token: nil).call(.POST, "/phone/topics", ["token": "gone"])
            #expect(unknown.status == 404)
        }
    }
}

import Base
import FoundationEssentials
import NIOHTTP1
import Schemas
import TestSupport
import Testing

extension HarmTests.HarmedProduct {
    /// The messaging service at the limit of its storage, and of its calls. Both are changed while it runs.
    @Suite("Storage of messages")
    struct MessagingStorageTests {
        /// So many that what a test writes beside them hardly counts.
        private static let pictures = 30
        private static let pictureBytes = 700_000
        /// The calls of a month of which the operator wants to be warned, and those that are nine tenths of them.
        private static let calls = 1_000
        private static let nearlyAllCalls = 900

        @Test(
            "At 90 % of its room the hub says so, and at 100 % it refuses with 507, while reading, deleting, reporting and erasing go on",
            .timeLimit(.minutes(10)))
        func full() async throws {
            let stack = try SharedStack.current
            try await stack.healthy()
            try await perform {
                try await fillUp(stack)
            } finally: {
                try stack.configuration.write()
                try await stack.reload(until: "the settings were read again")
            }
            try await stack.healthy()
            try await eventually("who is erased is gone everywhere") {
                try await stack.msi(["account", "erased"]).lines.first?.hasSuffix(", 0 wait for services") == true
            }
        }

        private func fillUp(_ stack: Stack) async throws {
            let portal = stack.portal
            let ann = try await TestStudent.register("storage-ann", at: portal)
            let ben = try await TestStudent.register("storage-ben", at: portal)
            let carl = try await TestStudent.register("storage-carl", at: portal)
            try await ann.befriend(ben)
            for person in [ann, ben] { _ = try await person.news() }
            let first = try await ann.write("Before it is full", to: ben.account)
            let pictured = try await ann.show(ann.uploaded(TestPicture.png(palette: "evidence")), to: ben.account)
            _ = try await carl.setStatus("Nearly")
            for number in 0..<Self.pictures { _ = try await carl.uploaded(Self.picture(number)) }

            let bytes = try await settledSize(at: portal)
            try await setLimit(bytes * 100 / 92, at: stack)
            try await eventually("the hub says that the storage is nearly full") {
                try await (90..<100).contains(usage(at: portal).percent)
            }
            let status = try await stack.msi(["status"])
            #expect(status.lines.contains { $0.contains("messaging") && $0.contains("%") }, "\(status.lines)")
            _ = try await ann.write("While it is nearly full", to: ben.account)

            try await setLimit(bytes * 100 / 97, at: stack)
            let refused = try await eventually("new messages are refused", every: .milliseconds(500)) {
                let draft: JSONValue = ["to": .string(ben.account), "text": "While it is full"]
                let answer = try await ann.call(.POST, "/user/messages", draft)
                return answer.status == 201 ? nil : answer
            }
            #expect(refused.status == 507, "\(refused)")
            #expect(try refused.json["type"] == "/problems/storage-full")
            #expect(try await usage(at: portal).percent == 100)
            let upload = try await ann.upload(Self.picture(Self.pictures))
            #expect(upload.status == 507, "\(upload)")
            let other = try await ann.call(.POST, "/user/status", ["text": "Full"])
            #expect(other.status == 507, "\(other)")

            try await expectTheRest(of: ann, ben, carl, first, pictured)
            try await setLimit(bytes * 2, at: stack)
            try await eventually("there is room again", every: .milliseconds(500)) {
                try await ann.call(.POST, "/user/status", ["text": "Room"]).status == 201
            }
            try await expectCalls(ben, at: portal)
        }

        private static func picture(_ number: Int) -> Data { TestPicture.stripes(bytes: pictureBytes, seed: UInt64(number)) }

        /// Reading, deleting, reporting, marking and erasing work.
        private func expectTheRest(
            of ann: TestStudent, _ ben: TestStudent, _ carl: TestStudent, _ first: DirectMessage, _ pictured: DirectMessage
        ) async throws {
            let news = try await ben.news()
            #expect(news.messages.prefix(2).map(\.id) == [first.id, pictured.id])
            let shown = try await ben.call(.GET, "/user/messages/\(pictured.id)/picture")
            #expect(shown.status == 200, "\(shown.status)")
            // The evidence is stored from the reserve.
            let evidence = try await ben.uploaded(shown.body, forReport: true)
            let report: ReportMessage.Reply = try await ben.document(
                .POST, "/user/reports",
                [
                    "message": .string("\(pictured.id)"), "account": .string(ann.account), "picture": .string("\(evidence.id)"),
                    "reason": "Not mine",
                ], status: 201)
            #expect(report.verdict == .genuine)
            try await ben.confirm(news.after)
            let last = try #require(news.messages.last)
            try await ben.read(last.id)
            try await eventually("what was read is removed") {
                try await ben.conversation(with: ann.account).messages.isEmpty
            }
            #expect(try await carl.call(.DELETE, "/user/status").status == 204)
            let erased = try await carl.call(.POST, "/user/erasure", carl.proof(.erasure))
            #expect(erased.status == 200, "\(erased)")
        }

        /// The calls of the month are near the limit that the operator has set. Nothing is refused.
        private func expectCalls(_ ben: TestStudent, at portal: Portal) async throws {
            let before = try await counts(at: portal).allCalls
            let (clients, each) = (16, Self.nearlyAllCalls / 16)
            try await concurrently(clients) { _ async throws in
                for _ in 0..<each { #expect(try await ben.call(.GET, "/user/status").status == 200) }
            }
            // They are added up every ten seconds.
            try await eventually("the calls are counted") {
                let now = try await counts(at: portal)
                return now.callLimit == Int64(Self.calls) && now.allCalls >= before + Int64(clients * each)
            }
            #expect(try await ben.call(.GET, "/user/status").status == 200)
            let warning = try await eventually("the health says so") {
                try await portal.document("/health")["parts"]?["messaging"]?["calls"]?["message"]?.string
            }
            #expect(warning.contains("\(Self.calls) are wanted at most"))
        }

        private func counts(at portal: Portal) async throws -> CountMessaging.Reply {
            try await eventually("the calls of the month") {
                let answer = try await portal.call(.GET, "/calls")
                return try answer.status == 200 ? JSONCoder.decode(CountMessaging.Reply.self, from: answer.body) : nil
            }
        }

        // MARK: The storage

        private func setLimit(_ bytes: Int64, at stack: Stack) async throws {
            try stack.configuration.write("MSI_MESSAGING_STORAGE_LIMIT=\(bytes)\nMSI_MESSAGING_CALLS=\(Self.calls)\n")
            try await stack.reload(until: "the settings were read again")
        }

        private func usage(at portal: Portal) async throws -> (bytes: Int64, percent: Int64) {
            // A service that is busy may not answer in time.
            let own = try await eventually("the usage of the messaging service") {
                try await portal.document("/storage")["stores"]?.elements?.first { $0["name"]?.string == "messaging" }
            }
            return (own["bytes"]?.integer ?? 0, own["percent"]?.integer ?? 0)
        }

        /// The size of the store once nothing is written. It is measured each five seconds.
        private func settledSize(at portal: Portal) async throws -> Int64 {
            var last = (bytes: Int64(-1), since: ContinuousClock.now)
            return try await eventually("the size is measured", every: .milliseconds(250)) {
                let bytes = try await usage(at: portal).bytes
                if bytes != last.bytes { last = (bytes, .now) }
                let isWhole = bytes > Int64(Self.pictures * Self.pictureBytes)
                return isWhole && ContinuousClock.now - last.since > .seconds(6) ? bytes : nil
            }
        }
    }
}

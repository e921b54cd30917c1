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
        /// So many that a few documents beside them hardly change how full the storage is.
        private static let pictures = 5
        private static let pictureBytes = 700_000
        /// So many calls are missing to nine tenths of those of which the operator wants to be warned.
        private static let missingCalls: Int64 = 20

        /// How full the store is.
        private struct Usage {
            let bytes: Int64
            let limit: Int64?
            let percent: Int64
        }

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

            try await fill(to: 92, at: stack, until: "the hub says that the storage is nearly full") { usage in
                (90..<100).contains(usage.percent) ? usage : nil
            }
            let status = try await stack.msi(["status"])
            #expect(status.lines.contains { $0.contains("messaging") && $0.contains("%") }, "\(status.lines)")
            _ = try await ann.write("While it is nearly full", to: ben.account)

            let refused = try await fill(to: 97, at: stack, until: "new messages are refused") { usage -> HTTPAnswer? in
                guard usage.percent == 100 else { return nil }
                let draft: JSONValue = ["to": .string(ben.account), "text": "While it is full"]
                let answer = try await ann.call(.POST, "/user/messages", draft)
                return answer.status == 201 ? nil : answer
            }
            #expect(refused.status == 507, "\(refused)")
            #expect(try refused.json["type"] == "/problems/storage-full")
            let upload = try await ann.upload(Self.picture(Self.pictures))
            #expect(upload.status == 507, "\(upload)")
            let other = try await ann.call(.POST, "/user/status", ["text": "Full"])
            #expect(other.status == 507, "\(other)")

            try await expectTheRest(of: ann, ben, carl, first, pictured)
            try await setLimit(usage(at: portal).bytes * 2, at: stack)
            try await eventually("there is room again", every: .milliseconds(500)) {
                try await ann.call(.POST, "/user/status", ["text": "Room"]).status == 201
            }
            try await expectCalls(ben, at: stack)
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

        /// With a few more calls of the month there are nine tenths of the operator's number. Nothing is refused.
        private func expectCalls(_ ben: TestStudent, at stack: Stack) async throws {
            let portal = stack.portal
            let enough = try await counts(at: portal).allCalls + Self.missingCalls
            let limit = enough * 10 / 9
            try stack.configuration.write("MSI_MESSAGING_CALLS=\(limit)\n")
            try await stack.reload(until: "the settings were read again")
            try await eventually("the number counts") { try await counts(at: portal).callLimit == limit }
            #expect(try await warning(at: portal) == nil)
            for _ in 0..<Self.missingCalls { #expect(try await ben.call(.GET, "/user/status").status == 200) }
            let text = try await eventually("the health says so") { try await warning(at: portal) }
            #expect(text.contains("\(limit) are wanted at most"))
            #expect(try await ben.call(.GET, "/user/status").status == 200)
        }

        /// What the health says about the calls of the month; `nil` if there are few enough.
        private func warning(at portal: Portal) async throws -> String? {
            try await portal.document("/health")["parts"]?["messaging"]?["calls"]?["message"]?.string
        }

        private func counts(at portal: Portal) async throws -> CountMessaging.Reply {
            try await eventually("the calls of the month") {
                let answer = try await portal.call(.GET, "/calls")
                return try answer.status == 200 ? JSONCoder.decode(CountMessaging.Reply.self, from: answer.body) : nil
            }
        }

        // MARK: The storage

        /// Gives the store a limit of which it takes up so many hundredths, until a condition has a value. It is given again, since
        /// the write-ahead log counts, which grows and is emptied.
        @discardableResult
        private func fill<Value>(
            to hundredths: Int64, at stack: Stack, until what: String, _ condition: (Usage) async throws -> Value?
        ) async throws -> Value {
            try await eventually(what, within: .seconds(240), every: .seconds(1)) {
                let limit = try await usage(at: stack.portal).bytes * 100 / hundredths
                try await setLimit(limit, at: stack)
                // The size is measured each five seconds.
                let measured = try await eventually("the limit counts", every: .milliseconds(250)) {
                    let now = try await usage(at: stack.portal)
                    return now.limit == limit ? now : nil
                }
                return try await condition(measured)
            }
        }

        private func setLimit(_ bytes: Int64, at stack: Stack) async throws {
            try stack.configuration.write("MSI_MESSAGING_STORAGE_LIMIT=\(bytes)\n")
            try await stack.reload(until: "the settings were read again")
        }

        private func usage(at portal: Portal) async throws -> Usage {
            // A service that is busy may not answer in time.
            let own = try await eventually("the usage of the messaging service") {
                try await portal.document("/storage")["stores"]?.elements?.first { $0["name"]?.string == "messaging" }
            }
            return Usage(
                bytes: own["bytes"]?.integer ?? 0, limit: own["limit"]?.integer, percent: own["percent"]?.integer ?? 0)
        }
    }
}

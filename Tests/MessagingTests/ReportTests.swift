import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// Reports of messages, by the running service.
@Suite("Reports of messages", .timeLimit(.minutes(10)))
struct ReportTests {
    private static let admin = CallerContext(actor: "admin")

    private static func report(
        _ message: ObjectID, by person: TestPerson, of account: AccountName = "ann", text: String? = nil,
        picture: ObjectID? = nil, reason: String? = nil
    ) async throws -> ReportMessage.Reply {
        let draft = ReportDraft(message: message, account: account, text: text, picture: picture, reason: reason)
        return try await person.request(ReportMessage(draft))
    }

    @Test(
        "A removed message is verified by its digest; a changed one is forged, and one of others cannot be verified",
        arguments: StoreKind.ofRules)
    func verdicts(kind: StoreKind) async throws {
        try await RunningMessaging.with(kind, clock: TestClock()) { messaging in
            let (ann, bob, cleo) = (messaging.person("ann"), messaging.person("bob"), messaging.person("cleo"))
            var sent: [DirectMessage] = []
            for text in ["rude", "nice", "short"] { sent.append(try await ann.send(text, to: "bob")) }
            let upload = try await ann.upload(SamplePNG.file(number: 1))
            let draft = DirectMessageDraft(to: "bob", picture: upload)
            let picture = try await ann.request(SendDirectMessage(draft))
            try await bob.receive()
            try await bob.read(picture)
            try await messaging.withStore { store in
                try await eventually("the removal") { try await store.texts().isEmpty }
            }
            // Who reports somebody has often blocked them before.
            messaging.people.block("ann", "bob")
            let genuine = try await Self.report(sent[0].id, by: bob, text: "rude", reason: "it is rude")
            #expect(genuine.verdict == .genuine)
            // Repeated, it is the same one, whatever is said about it now.
            #expect(try await Self.report(sent[0].id, by: bob, text: "other") == genuine)
            #expect(try await Self.report(sent[1].id, by: bob, text: "nice!").verdict == .forged)
            #expect(try await Self.report(sent[2].id, by: bob, of: "cleo", text: "short").verdict == .forged)
            #expect(try await Self.report(sent[0].id, by: cleo, text: "rude").verdict == .unverifiable)
            #expect(try await Self.report(sent[0].id, by: ann, of: "bob", text: "rude").verdict == .unverifiable)
            #expect(try await Self.report(ObjectID(), by: bob, text: "rude").verdict == .unverifiable)

            let bytes = SamplePNG.file(number: 1)
            let evidence = try await bob.upload(bytes, forReport: true)
            let shown = try await Self.report(picture.id, by: bob, picture: evidence)
            #expect(shown.verdict == .genuine)
            #expect(try await messaging.client.picture(of: .report, "\(shown.id)", for: Self.admin) == bytes)
            let failure = await bob.failure(
                of: ReportMessage(ReportDraft(message: ObjectID(), account: "ann", picture: ObjectID())))
            #expect(failure?.status == .notFound && failure?.field == "picture")

            let read = try await messaging.client.request(ReadReport(genuine.id), context: Self.admin)
            #expect(read.message == sent[0].id && read.text == "rude" && read.reason == "it is rude")
            #expect(read.sent == sent[0].at && read.report.account == "ann" && read.report.reporter == "bob")
        }
    }

    @Test(
        "Super users list reports without what they say; who reads or closes one is in the audit log, the text is not",
        arguments: StoreKind.ofRules)
    func superUsers(kind: StoreKind) async throws {
        let database = try await kind.newDatabaseURL()
        try await withTemporaryFolder { folder in
            try await RunningMessaging.with(in: folder, database: database) { messaging in
                let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
                var reports: [ObjectID] = []
                for text in ["lighthouse 1", "lighthouse 2", "lighthouse 3"] {
                    let message = try await ann.send(text, to: "bob")
                    reports.append(try await Self.report(message.id, by: bob, text: text).id)
                }
                let client = messaging.client
                for failure in [
                    await client.failure(of: ListReports(open: true, limit: 10)),
                    await client.failure(of: ReadReport(reports[0])), await client.failure(of: CloseReport(reports[0])),
                ] {
                    #expect(failure?.status == .unauthenticated)
                }
                #expect(await client.failure(of: ReadReport(ObjectID()), context: Self.admin)?.status == .notFound)
                #expect(await client.failure(of: CloseReport(ObjectID()), context: Self.admin)?.status == .notFound)
                let wrong = ListReports(open: true, limit: 10, after: "!")
                #expect(await client.failure(of: wrong, context: Self.admin)?.field == "after")

                let closed = try await client.request(CloseReport(reports[1]), context: Self.admin)
                #expect(closed.closed != nil && closed.closedBy == "admin")
                let again = try await client.request(CloseReport(reports[1]), context: CallerContext(actor: "other"))
                #expect(again == closed)
                let first = try await client.request(ListReports(open: false, limit: 2), context: Self.admin)
                let after = try #require(first.next)
                let second = try await client.request(
                    ListReports(open: false, limit: 2, after: after), context: Self.admin)
                #expect(Set((first.reports + second.reports).map(\.id)) == Set(reports) && second.next == nil)
                let open = try await client.request(ListReports(open: true, limit: 10), context: Self.admin)
                #expect(Set(open.reports.map(\.id)) == [reports[0], reports[2]])
                #expect(try await client.request(CountMessaging()).reports == 2)
                #expect(try await client.request(ReadReport(reports[1]), context: Self.admin).text == "lighthouse 2")
            }
            try await withMessagingStore(in: folder, database: database) { store in
                let pending = try await AuditQueue(of: store).pendingAudit(limit: 100)
                let entries = try pending.map { try JSONCoder.decode(AuditEntry.self, from: Data($0.json.utf8)) }
                #expect(entries.map(\.action) == ["message_report.close", "message_report.read"])
                #expect(entries.allSatisfy { $0.actor == "admin" && $0.object.kind == "message_report" })
                #expect(entries.allSatisfy { $0.after == ["account": "ann", "verdict": "genuine"] })
                #expect(pending.allSatisfy { !$0.json.contains("lighthouse") && !$0.json.contains("bob") })
            }
        }
    }

    @Test("Twenty reports a day, and then no more", arguments: StoreKind.ofRules)
    func limit(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock) { messaging in
            let bob = messaging.person("bob")
            for number in 0..<MessagingLimits.reportsPerDay {
                _ = try await Self.report(ObjectID(), by: bob, text: "\(number)")
                if number == 0 { clock.pass(.seconds(3_600)) }
            }
            let more = ReportMessage(ReportDraft(message: ObjectID(), account: "ann", text: "more"))
            let failure = await bob.failure(of: more)
            #expect(failure?.status == .overloaded && failure?.retryAfter == .seconds(23 * 3_600))
            _ = try await Self.report(ObjectID(), by: messaging.person("cleo"), text: "of somebody else")
            clock.pass(.seconds(23 * 3_600))
            try await bob.request(more)
            let further = ReportMessage(ReportDraft(message: ObjectID(), account: "ann", text: "x"))
            #expect(await bob.failure(of: further)?.status == .overloaded)
        }
    }
}

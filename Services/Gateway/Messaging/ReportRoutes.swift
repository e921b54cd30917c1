import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas

/// Reports of messages: persons make them, and super users read them.
struct ReportRoutes: Feature {
    let messaging: CommandClient

    private static let all = "/reports"
    private static let one = all + "/:id"

    var section: APISection {
        APISection(
            "Reports of messages",
            "A person reports a message to the super users, who see that one message and no other. The hub says by a keyed "
                + "digest whether the message is `genuine`, `forged`, or `unverifiable` because it does not know it any more. "
                + "The audit log has who has read which report, without the message.")
    }

    var routes: [Route] {
        [
            Route(
                .post, "/user/reports", right: .person, body: ReportDraft.self, answer: .created(ReportMessage.Reply.self)
            ) { call in
                try call.checkRepeatableKey()
                return Answer(try await messaging.request(ReportMessage(try await call.body()), for: call))
            }.documented(
                "Report a message",
                "With its text, or with its picture uploaded again (`POST /user/pictures?report=true`), as the device has it. "
                    + "Repeated for the same message, it is the same report. 404 with the `field` `picture` for one that the "
                    + "caller has not uploaded. 429 after \(MessagingLimits.reportsPerDay) within a day.",
                headers: [.repeatableKey], problems: [.notFound])
        ] + superUserRoutes
    }

    private var superUserRoutes: [Route] {
        [
            Route(.get, Self.all, right: .administer, query: ReportQuery.self, answer: .ok(ListReports.Reply.self), list)
                .documented(
                    "List the reports", "The newest first, without the messages.", answerHeaders: [.nextPage]),
            Route(.get, Self.one, right: .administer, answer: .ok(ReportedMessage.self)) { call in
                Answer(try await messaging.request(ReadReport(call.identifier("id")), context: call.caller))
            }.documented("Read a report with its message", "The audit log then says who has read it."),
            Route(.put, Self.one + "/closed", right: .administer, answer: .ok(MessageReport.self)) { call in
                Answer(try await messaging.request(CloseReport(call.identifier("id")), context: call.caller))
            }.documented("Close a report", "Somebody has dealt with it. Repeated, it changes nothing."),
            Route(.get, Self.one + "/picture", right: .administer, answer: .picture) { call in
                let id = try call.identifier("id")
                // Nobody sees the picture without an entry in the audit log.
                _ = try await messaging.request(ReadReport(id), context: call.caller)
                return try await messaging.picture(of: .report, id, for: call)
            }.documented(
                "Read the picture of a report", "The audit log then says who has read the report.",
                also: AnswerForm.otherPictures),
        ]
    }

    private func list(_ call: Call<NoBody>, _ query: ReportQuery) async throws -> Answer<ListReports.Reply> {
        let page = try await messaging.request(query.command, context: call.caller)
        return Answer(page, headers: call.link(to: Self.all, limit: query.command.limit, after: page.next))
    }
}

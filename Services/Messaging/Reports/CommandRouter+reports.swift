import Base
import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about reports. Persons make them, and super users read one at a time: no command has another message.
    mutating func serveReports(_ messaging: Messaging) {
        let changes = messaging.changes
        on(ReportMessage.self) { command, context in
            messaging.calls.count("others")
            let reporter = try context.requirePerson()
            let digest = try await messaging.digests.digest()
            return try await changes.make(by: context) { change in
                let report = try change.report(command.draft, by: reporter, digest)
                return ReportMessage.Reply(id: report.id, verdict: report.verdict)
            }
        }
        on(ListReports.self) { command, context in
            _ = try context.requireActor()
            let query: Query<ReportDocument> =
                command.open
                ? Query(where: MessagingStore.reportOpen == true, order: .descending(MessagingStore.reportAt))
                : Query(order: .descending(MessagingStore.reportAt))
            let page = try await changes.store.page(
                of: MessagingStore.reports, query, after: Cursor(after: command.after), limit: command.limit)
            return ListReports.Reply(reports: page.documents.map(\.document.view), next: page.next?.description)
        }
        on(ReadReport.self) { command, context in
            _ = try context.requireActor()
            return try await changes.make(by: context) { change in try change.readReport(command.id) }
        }
        on(CloseReport.self) { command, context in
            let actor = try context.requireActor()
            return try await changes.make(by: context) { change in
                try change.closeReport(command.id, by: AccountName(actor))
            }
        }
    }
}

extension ReportDocument {
    /// The report without the message.
    var view: MessageReport {
        MessageReport(
            id: id, at: at, reporter: reporterName, account: accountName, verdict: verdict, closed: closed, closedBy: closedBy)
    }

    /// The report with the message.
    var whole: ReportedMessage {
        ReportedMessage(
            report: view, message: message, sent: sent, text: text, picture: picture?.info, reason: reason)
    }

    /// What the audit log has of it: nothing of the message, and not who has reported it.
    var audited: JSONValue { ["account": .string("\(accountName)"), "verdict": .string(verdict.rawValue)] }
}

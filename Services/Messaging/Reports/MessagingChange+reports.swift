import Base
import Schemas
import Store

extension MessagingChange {
    /// Stores a report. Repeated for the same message, it finds the same one.
    ///
    /// - Parameter digest: Makes the digests by which messages are verified.
    /// - Throws: ``CommandFailure``: `not_found` with the field `picture`, `overloaded` after too many reports, `unauthenticated`
    ///   if the person was erased.
    mutating func report(_ draft: ReportDraft, by reporter: AccountName, _ digest: MessageDigest) throws -> ReportDocument {
        try transaction.requireNotErased(reporter)
        let same = Query(
            where: MessagingStore.reportReporter == reporter.key, MessagingStore.reportMessage == draft.message)
        if let known = try transaction.page(of: MessagingStore.reports, same, limit: 1).documents.first { return known.document }
        try requireFewReports(of: reporter)
        var (picture, content): (StoredPicture?, MessageDigest.Content) = (nil, .text(draft.text ?? ""))
        if let upload = draft.picture {
            let evidence = try use(upload, of: reporter, for: .report, expires: nil)
            (picture, content) = (evidence, .picture(evidence.picture))
        }
        // An erasure of the person, and reports in the same moment, then conflict with it.
        _ = try nextPosition(of: reporter)
        let (verdict, sent) = try verdict(on: draft, content, for: reporter, digest)
        let report = ReportDocument(
            id: ObjectID(), at: now, reporter: reporter.key, reporterName: reporter, account: draft.account.key,
            accountName: draft.account, message: draft.message, verdict: verdict, sent: sent, text: draft.text, picture: picture,
            reason: draft.reason, open: true, closed: nil, closedBy: nil, expires: nil)
        return try transaction.insert(report, into: MessagingStore.reports).document
    }

    private func requireFewReports(of reporter: AccountName) throws {
        let (max, day) = (MessagingLimits.reportsPerDay, Milliseconds.seconds(86_400))
        // The newest first: identifiers begin with the time.
        let own = Query(where: MessagingStore.reportReporter == reporter.key, order: .descending())
        let latest = try transaction.page(of: MessagingStore.reports, own, limit: max).documents.map(\.document)
        let recent = latest.filter { $0.at > now - day }
        guard recent.count >= max, let earliest = recent.map(\.at).min() else { return }
        throw CommandFailure(
            .overloaded, "you have reported \(max) messages within a day; try again later",
            retryAfter: earliest + day - now)
    }

    /// What the hub can say about a message, and when it was sent, if it is genuine.
    private func verdict(
        on draft: ReportDraft, _ content: MessageDigest.Content, for reporter: AccountName, _ digest: MessageDigest
    ) throws -> (ReportVerdict, UnixMilliseconds?) {
        // A message of others says no more than one that never was.
        guard let known = try transaction.get(draft.message, from: MessagingStore.digests)?.document, known.to == reporter.key
        else { return (.unverifiable, nil) }
        let claimed = digest.text(
            of: content, known.id, from: draft.account.key, to: reporter.key, number: known.number, at: known.at)
        return claimed == known.digest ? (.genuine, known.at) : (.forged, nil)
    }

    /// A report with its message, for a super user: the audit log has who has read it.
    mutating func readReport(_ id: ObjectID) throws -> ReportedMessage {
        guard let report = try transaction.get(id, from: MessagingStore.reports)?.document else {
            throw CommandFailure(.notFound, "no report \(id)")
        }
        record("message_report.read", .messageReport(id), after: report.audited)
        return report.whole
    }

    /// A super user has dealt with a report.
    mutating func closeReport(_ id: ObjectID, by account: AccountName?) throws -> MessageReport {
        var isNew = false
        let (closed, days) = (self.now, rules.reportDays)
        let report = try transaction.update(id, in: MessagingStore.reports) { report in
            guard report.open == true else { return }
            isNew = true
            report.open = nil
            report.closed = closed
            report.closedBy = account
            report.expires = closed + .seconds(Int64(days).multiplied(by: 86_400))
        }.document
        if isNew { record("message_report.close", .messageReport(id), after: report.audited) }
        return report.view
    }
}

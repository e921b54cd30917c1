package import Base

// Reports of messages. Persons make them; super users read them one by one, and the audit log has who has read which. The
// header's `actor` is required: it is the person, or the super user, whose right the caller of the command has checked.

/// `message_report.add`: reports a message to the super users. Repeated for the same message, it gets the same report.
/// `not_found` with the field `picture` for one that the caller has not uploaded; `overloaded` with `retry_after` after too
/// many reports.
package struct ReportMessage: Command {
    package static let name = "message_report.add"

    package struct Reply: Codable, Hashable, Sendable {
        package let id: ObjectID
        package let verdict: ReportVerdict

        package init(id: ObjectID, verdict: ReportVerdict) {
            self.id = id
            self.verdict = verdict
        }
    }

    package let draft: ReportDraft

    package init(_ draft: ReportDraft) {
        self.draft = draft
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case draft
    }
}

/// `message_report.list`: the reports without their messages, the newest first, page by page.
package struct ListReports: Command, Checked {
    package static let name = "message_report.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let reports: [MessageReport]
        /// The `after` of the next page; absent on the last one.
        package let next: String?

        package init(reports: [MessageReport], next: String?) {
            self.reports = reports
            self.next = next
        }
    }

    /// Whether only those that are open.
    package let open: Bool
    package let limit: Int
    package let after: String?

    package init(open: Bool, limit: Int, after: String? = nil) {
        self.open = open
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case open, limit, after
    }

    package func check() throws(SchemaViolation) {
        try MessagingLimits.page.check(limit, CodingKeys.limit)
        try TextLimits(max: 1_000).check(after, CodingKeys.after)
    }
}

/// `message_report.get`: a report with its message. The audit log has it (`message_report.read`).
package struct ReadReport: Command {
    package static let name = "message_report.get"
    package typealias Reply = ReportedMessage

    package let id: ObjectID

    package init(_ id: ObjectID) {
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
    }
}

/// `message_report.close`: somebody has dealt with a report. It is kept for ``MessagingRules/reportDays``. The audit log has it.
/// Repeated, it changes nothing.
package struct CloseReport: Command {
    package static let name = "message_report.close"
    package typealias Reply = MessageReport

    package let id: ObjectID

    package init(_ id: ObjectID) {
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
    }
}

package import Base

/// The body of `POST /user/reports`: a message that the caller has got, with its text or its picture as the device has it. The
/// hub may have removed it.
package struct ReportDraft: Codable, Checked, Hashable, Sendable {
    package let message: ObjectID
    /// Who has sent it.
    package let account: AccountName
    package let text: String?
    /// The id of an ``UploadedPicture`` with the bytes of the message's picture.
    package let picture: ObjectID?
    /// Absent for none.
    package let reason: String?

    package init(
        message: ObjectID, account: AccountName, text: String? = nil, picture: ObjectID? = nil, reason: String? = nil
    ) {
        self.message = message
        self.account = account
        self.text = text
        self.picture = picture
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case message, account, text, picture, reason
    }

    package func check() throws(SchemaViolation) {
        try MessagingLimits.text.check(text, CodingKeys.text)
        try MessagingLimits.reason.check(reason, CodingKeys.reason)
        guard (text == nil) != (picture == nil) else {
            throw SchemaViolation(CodingKeys.text, "expected either a text or a picture")
        }
    }
}

/// What the hub can say about a reported message.
package enum ReportVerdict: String, ClosedEnum {
    /// The person has sent it so to the one who reports it.
    case genuine
    /// There is a message with this id between the two, and it was another one.
    case forged
    /// The hub does not know it any more, or never did.
    case unverifiable
}

/// A report, without what was reported. For super users.
package struct MessageReport: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let at: UnixMilliseconds
    /// Absent once the person was erased.
    package let reporter: AccountName?
    /// Whose message it is.
    package let account: AccountName
    package let verdict: ReportVerdict
    /// When it was closed, and by whom; absent while it is open.
    package let closed: UnixMilliseconds?
    package let closedBy: AccountName?

    package init(
        id: ObjectID, at: UnixMilliseconds, reporter: AccountName?, account: AccountName, verdict: ReportVerdict,
        closed: UnixMilliseconds?, closedBy: AccountName?
    ) {
        self.id = id
        self.at = at
        self.reporter = reporter
        self.account = account
        self.verdict = verdict
        self.closed = closed
        self.closedBy = closedBy
    }

    private enum CodingKeys: String, CodingKey {
        case id, at, reporter, account, verdict, closed
        case closedBy = "closed_by"
    }
}

/// A report with its message, and no other. Who reads it is in the audit log.
package struct ReportedMessage: Codable, Hashable, Sendable {
    package let report: MessageReport
    package let message: ObjectID
    /// When it was sent, by the hub's record; absent if that is not known.
    package let sent: UnixMilliseconds?
    package let text: String?
    package let picture: PictureInfo?
    package let reason: String?

    package init(
        report: MessageReport, message: ObjectID, sent: UnixMilliseconds?, text: String?, picture: PictureInfo?, reason: String?
    ) {
        self.report = report
        self.message = message
        self.sent = sent
        self.text = text
        self.picture = picture
        self.reason = reason
    }
}

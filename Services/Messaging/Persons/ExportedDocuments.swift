import Schemas

/// The digest of a message in the export of one of its two persons.
struct ExportedDigest: Encodable {
    let message: ObjectID
    /// In lower case, like the recipient.
    let from: String
    let to: String
    let at: UnixMilliseconds
    let digest: String
    let expires: UnixMilliseconds

    init(_ document: MessageDigestDocument) {
        (message, from, to) = (document.id, document.from, document.to)
        (at, digest, expires) = (document.at, document.digest, document.expires)
    }
}

/// A person's status in their export.
struct ExportedStatus: Encodable {
    let id: ObjectID
    let text: String?
    let picture: PictureInfo?
    let at: UnixMilliseconds
    let expires: UnixMilliseconds
    /// By how many friends it was seen.
    let seen: Int

    init(_ status: StatusDocument) {
        (id, text, picture) = (status.status, status.text, status.picture?.info)
        (at, expires, seen) = (status.at, status.expires, status.seen)
    }
}

/// A report in the export of the one who has made it.
struct ExportedReport: Encodable {
    let id: ObjectID
    let at: UnixMilliseconds
    /// Whose message it is.
    let account: AccountName
    let message: ObjectID
    let verdict: ReportVerdict
    let text: String?
    let picture: PictureInfo?
    let reason: String?
    /// `nil` while it is open.
    let closed: UnixMilliseconds?

    init(_ report: ReportDocument) {
        (id, at, account, message) = (report.id, report.at, report.accountName, report.message)
        (verdict, text, picture) = (report.verdict, report.text, report.picture?.info)
        (reason, closed) = (report.reason, report.closed)
    }
}

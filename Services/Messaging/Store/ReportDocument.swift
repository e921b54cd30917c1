import Schemas
import Store

/// A report as it is stored, with the message as the reporter's device had it.
struct ReportDocument: StoredDocument, Hashable {
    let id: ObjectID
    let at: UnixMilliseconds
    /// Who reports, in lower case and as it is written; both `nil` once the person was erased.
    var reporter: String?
    var reporterName: AccountName?
    /// Whose message it is.
    let account: String
    let accountName: AccountName
    let message: ObjectID
    let verdict: ReportVerdict
    /// When the message was sent, if the hub knew it.
    let sent: UnixMilliseconds?
    let text: String?
    let picture: StoredPicture?
    let reason: String?
    /// `true` while it is open; `nil` afterwards.
    var open: Bool?
    var closed: UnixMilliseconds?
    var closedBy: AccountName?
    /// When it is removed; `nil` while it is open.
    var expires: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case at, reporter, account, message, verdict, sent, text, picture, reason, open, closed, expires
        case reporterName = "reporter_name"
        case accountName = "account_name"
        case closedBy = "closed_by"
    }
}

import PersonPushes
import Schemas
import Store

/// The collections of the messaging service.
///
/// While only the reserve of the storage is left, messages can still be fetched, read, removed and reported, statuses and
/// pictures taken back, and persons erased. No message, status or picture can be added.
enum MessagingStore {
    // Messages.

    static let messageTo = Field("to", \DirectMessageDocument.to)
    static let messageToPosition = Field("to_position", \DirectMessageDocument.toPosition)
    static let messageFrom = Field("from", \DirectMessageDocument.from)
    static let messageFromPosition = Field("from_position", \DirectMessageDocument.fromPosition)
    static let messageConversation = Field("conversation", \DirectMessageDocument.conversation)
    static let messageNumber = Field("number", \DirectMessageDocument.number)
    static let messageAt = Field("at", \DirectMessageDocument.at)

    static let messages = Collection<DirectMessageDocument>(
        "direct_message",
        indexes: [
            .on(messageTo, messageToPosition), .on(messageFrom, messageFromPosition),
            .unique(messageConversation, messageNumber), .on(messageConversation, messageTo, messageNumber), .on(messageAt),
        ], kind: "message")

    static let firstAccount = Field("first.account", \ConversationDocument.first.account)
    static let firstChanged = Field("first.changed", \ConversationDocument.first.changed)
    static let secondAccount = Field("second.account", \ConversationDocument.second.account)
    static let secondChanged = Field("second.changed", \ConversationDocument.second.changed)
    static let conversationDue = Field("due", \ConversationDocument.due)
    static let conversationLast = Field("last", \ConversationDocument.last)
    static let conversationRestored = Field("restored", \ConversationDocument.restored)

    static let conversations = Collection<ConversationDocument>(
        MessagingHold.conversations,
        indexes: [
            .on(firstAccount, firstChanged), .on(secondAccount, secondChanged), .on(conversationDue), .on(conversationLast),
            .on(conversationRestored),
        ], reserve: .changes)

    static let digestFrom = Field("from", \MessageDigestDocument.from)
    static let digestTo = Field("to", \MessageDigestDocument.to)
    static let digestRequest = Field("request", \MessageDigestDocument.request)
    static let digestEnd = Field("expires", \MessageDigestDocument.expires)

    static let digests = Collection<MessageDigestDocument>(
        "message_digest",
        indexes: [.on(digestFrom), .on(digestTo), .unique(digestRequest), .expiring(digestEnd)], kind: "message")

    // Persons.

    static let persons = Collection<MessagingPersonDocument>("messaging_person", reserve: .everything)

    static let deviceAccount = Field("account", \MessagingDeviceDocument.account)
    static let deviceSeen = Field("seen", \MessagingDeviceDocument.seen)

    static let devices = Collection<MessagingDeviceDocument>(
        "messaging_device", indexes: [.on(deviceAccount), .on(deviceSeen)], reserve: .everything)

    static let erasedEnd = Field("expires", \ErasedPersonDocument.expires)

    static let erased = Collection<ErasedPersonDocument>(
        "messaging_erased", indexes: [.expiring(erasedEnd)], reserve: .everything)

    // Statuses.

    /// The account, for ``Transaction/stored(_:in:of:)``.
    static let statusAccount = Field("_id", \StatusDocument.id)
    static let statusID = Field("status", \StatusDocument.status)
    static let statusEnd = Field("expires", \StatusDocument.expires)
    static let statusRestored = Field("restored", \StatusDocument.restored)

    static let statuses = Collection<StatusDocument>(
        MessagingHold.statuses, indexes: [.unique(statusID), .on(statusEnd), .on(statusRestored)], kind: "status")

    static let viewStatus = Field("status", \StatusViewDocument.status)
    static let viewViewer = Field("viewer", \StatusViewDocument.viewer)
    static let viewEnd = Field("expires", \StatusViewDocument.expires)

    static let views = Collection<StatusViewDocument>(
        "status_view", indexes: [.unique(viewStatus, viewViewer), .on(viewViewer), .expiring(viewEnd)],
        reserve: .everything)

    // Pictures. Those for reports may use the reserve: who stores another one checks the room (``Transaction/checkRoom()``).

    static let pictures = Collection<PictureFileDocument>(
        "picture.files", reserve: .everything, kind: "picture", hasRevisions: false)

    static let chunkFile = Field("files_id", \PictureChunkDocument.file)
    static let chunkNumber = Field("n", \PictureChunkDocument.n)

    static let chunks = Collection<PictureChunkDocument>(
        "picture.chunks", indexes: [.unique(chunkFile, chunkNumber)], reserve: .everything, kind: "picture", hasRevisions: false)

    static let useOwner = Field("owner", \PictureUseDocument.owner)
    static let usePurpose = Field("purpose", \PictureUseDocument.purpose)
    static let useProfile = Field("profile", \PictureUseDocument.profile)
    static let useEnd = Field("expires", \PictureUseDocument.expires)

    static let uses = Collection<PictureUseDocument>(
        "picture_use",
        indexes: [.on(useOwner), .on(useOwner, usePurpose), .unique(useProfile), .on(useEnd)], reserve: .everything,
        kind: "picture")

    static let totals = Collection<PictureTotalDocument>("messaging_total", reserve: .everything)

    // Reports.

    static let reportReporter = Field("reporter", \ReportDocument.reporter)
    static let reportMessage = Field("message", \ReportDocument.message)
    static let reportAccount = Field("account", \ReportDocument.account)
    static let reportOpen = Field("open", \ReportDocument.open)
    static let reportAt = Field("at", \ReportDocument.at)
    static let reportEnd = Field("expires", \ReportDocument.expires)

    static let reports = Collection<ReportDocument>(
        "message_report",
        indexes: [
            .unique(reportReporter, reportMessage), .on(reportReporter), .on(reportAccount), .on(reportOpen, reportAt),
            .on(reportAt), .on(reportEnd),
        ], reserve: .everything, kind: "report")

    // The service.

    static let keys = Collection<DigestKeyDocument>("messaging_key", reserve: .everything)

    static let callsEnd = Field("expires", \CallsDocument.expires)

    static let calls = Collection<CallsDocument>("messaging_calls", indexes: [.expiring(callsEnd)], reserve: .everything)

    /// The pushes that the message log has not stored yet.
    static let queuedPushes = Collection<QueuedPush>(MessagingHold.pushes, reserve: .everything, kind: "queued push")

    static let declaration = StoreDeclaration(
        "messaging", messages, conversations, digests, persons, devices, erased, statuses, views, pictures, chunks, uses, totals,
        reports, keys, calls, queuedPushes, audited: true, erases: true)
}

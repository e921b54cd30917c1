import Base
import FoundationEssentials
import Schemas
import Store

/// What the service has of a person, page by page.
struct PersonExporting: Sendable {
    let changes: MessagingChanges

    /// How many documents a page has.
    private static let pageSize = 100

    /// - Parameter after: The `next` of the page before; `nil` for the first one.
    /// - Returns: A page, with the bytes of the file that it has attached.
    /// - Throws: ``CommandFailure`` with `invalid` for another text.
    func page(of account: AccountName, after: String?) async throws -> (ExportPerson.Reply, Data?) {
        let place = try ExportPlace(after, first: MessagingExportPart.received)
        return try await changes.store.snapshot { transaction -> (ExportPerson.Reply, Data?) in
            guard let file = place.part.file else {
                let picture = try transaction.exportedPicture(of: account.key, after: place.cursor)
                let reply = ExportPerson.Reply(
                    files: [:], next: place.next(picture?.next)?.text, attached: picture?.name)
                return (reply, picture?.bytes)
            }
            let page = try transaction.exported(place.part, of: account.key, after: place.cursor, limit: Self.pageSize)
            return (ExportPerson.Reply(files: [file: page.documents], next: place.next(page.next)?.text), nil)
        }
    }
}

/// The parts of an export, in their order. Those of one file follow each other.
enum MessagingExportPart: String, ExportPart {
    case received, sent
    case first, second
    case choices, status
    case about, by
    case reports
    case pictures

    /// `nil` for the pictures, which are a file each.
    var file: String? {
        switch self {
        case .received, .sent: "messages.json"
        case .first, .second: "conversations.json"
        case .choices: "choices.json"
        case .status: "status.json"
        case .about, .by: "digests.json"
        case .reports: "reports.json"
        case .pictures: nil
        }
    }
}

extension Transaction {
    /// - Parameter person: In lower case.
    fileprivate func exported(
        _ part: MessagingExportPart, of person: String, after cursor: Cursor?, limit: Int
    ) throws -> (documents: [JSONValue], next: Cursor?) {
        func page<Document, Exported: Encodable>(
            of collection: Collection<Document>, _ query: Query<Document>, _ export: (Document) -> Exported
        ) throws -> (documents: [JSONValue], next: Cursor?) {
            let page = try self.page(of: collection, query, after: cursor, limit: limit)
            return (try page.documents.map { try JSONValue(encoding: export($0.document)) }, page.next)
        }
        func messages(_ query: Query<DirectMessageDocument>) throws -> (documents: [JSONValue], next: Cursor?) {
            try page(of: MessagingStore.messages, query) { message in
                DirectMessage(
                    id: message.id, from: message.fromName, to: message.toName, number: message.number, at: message.at,
                    text: message.text, picture: message.picture?.info)
            }
        }
        // What others have read is theirs.
        func conversations(_ query: Query<ConversationDocument>) throws -> (documents: [JSONValue], next: Cursor?) {
            try page(of: MessagingStore.conversations, query) { $0.view(for: person, readMarks: false) }
        }
        func digests(_ query: Query<MessageDigestDocument>) throws -> (documents: [JSONValue], next: Cursor?) {
            try page(of: MessagingStore.digests, query) { ExportedDigest($0) }
        }
        switch part {
        case .received:
            return try messages(
                Query(where: MessagingStore.messageTo == person, order: .ascending(MessagingStore.messageToPosition)))
        case .sent:
            return try messages(
                Query(where: MessagingStore.messageFrom == person, order: .ascending(MessagingStore.messageFromPosition)))
        case .first:
            return try conversations(
                Query(where: MessagingStore.firstAccount == person, order: .ascending(MessagingStore.firstChanged)))
        case .second:
            return try conversations(
                Query(where: MessagingStore.secondAccount == person, order: .ascending(MessagingStore.secondChanged)))
        case .choices:
            let known = try get(person, from: MessagingStore.persons)?.document
            let choices = known.map { MessagingChoices(readMarks: $0.hidesReading != true) }
            return (try [choices].compactMap(\.self).map { try JSONValue(encoding: $0) }, nil)
        case .status:
            let status = try get(person, from: MessagingStore.statuses)?.document
            return (try [status].compactMap(\.self).map { try JSONValue(encoding: ExportedStatus($0)) }, nil)
        case .about: return try digests(Query(where: MessagingStore.digestTo == person))
        case .by: return try digests(Query(where: MessagingStore.digestFrom == person))
        case .reports:
            return try page(of: MessagingStore.reports, Query(where: MessagingStore.reportReporter == person)) {
                ExportedReport($0)
            }
        case .pictures: return ([], nil)
        }
    }

    /// The next picture that the person has uploaded, for whatever it is; `nil` after the last one.
    ///
    /// - Parameter person: In lower case.
    fileprivate func exportedPicture(
        of person: String, after cursor: Cursor?
    ) throws -> (name: String, bytes: Data, next: Cursor?)? {
        var cursor = cursor
        repeat {
            let query = Query(where: MessagingStore.useOwner == person)
            let page = try page(of: MessagingStore.uses, query, after: cursor, limit: 100)
            for use in page.documents.map(\.document) {
                guard let file = try get(use.picture, from: MessagingStore.pictures)?.document,
                    let bytes = try self.bytes(of: use.picture)
                else { continue }
                return ("pictures/\(use.id).\(file.metadata.type.suffix)", bytes, Cursor(afterID: use.id))
            }
            cursor = page.next
        } while cursor != nil
        return nil
    }
}

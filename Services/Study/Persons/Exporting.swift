import Base
import Schemas
import Store

/// What the service has of a person, page by page.
struct PersonExporting: Sendable {
    let changes: StudyChanges

    /// How many documents a page has.
    private static let pageSize = 100

    /// - Parameter after: The `next` of the page before; `nil` for the first one.
    /// - Throws: ``CommandFailure`` with `invalid` for another text.
    func page(of account: AccountName, after: String?) async throws -> ExportPerson.Reply {
        let place = try ExportPlace(after)
        let now = changes.now()
        return try await changes.store.snapshot { transaction in
            let page = try transaction.exported(
                place.part, of: account, after: place.cursor, limit: Self.pageSize, at: now)
            let next = page.next.map { ExportPlace(place.part, $0) } ?? place.part.next.map { ExportPlace($0, nil) }
            return ExportPerson.Reply(files: [place.part.file: page.documents], next: next?.text)
        }
    }
}

/// The parts of an export, in their order. Those of one file follow each other.
enum ExportPart: String, CaseIterable, Sendable {
    case classes
    case attended, hosted
    case posts
    case received, sent

    var file: String {
        switch self {
        case .classes: "classes.json"
        case .attended, .hosted: "sessions.json"
        case .posts: "posts.json"
        case .received, .sent: "invites.json"
        }
    }

    /// `nil` for the last one.
    var next: ExportPart? {
        let all = Self.allCases
        return all.firstIndex(of: self).flatMap { $0 + 1 < all.count ? all[$0 + 1] : nil }
    }
}

/// Where a page of an export begins: its part, a hyphen, and the cursor of the page before.
private struct ExportPlace {
    let part: ExportPart
    let cursor: Cursor?

    init(_ part: ExportPart, _ cursor: Cursor?) {
        self.part = part
        self.cursor = cursor
    }

    init(_ text: String?) throws(CommandFailure) {
        guard let text else {
            self.init(.classes, nil)
            return
        }
        let words = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, let part = ExportPart(rawValue: String(words[0])) else {
            throw CommandFailure(.invalid, "after: expected the \"next\" of another page", field: "after")
        }
        self.init(part, try Cursor(after: words[1].isEmpty ? nil : String(words[1])))
    }

    var text: String { "\(part.rawValue)-\(cursor?.description ?? "")" }
}

extension Transaction {
    fileprivate func exported(
        _ part: ExportPart, of account: AccountName, after cursor: Cursor?, limit: Int, at now: UnixMilliseconds
    ) throws -> (documents: [JSONValue], next: Cursor?) {
        let person = account.key
        func page<Document, Exported: Encodable>(
            of collection: Collection<Document>, _ query: Query<Document>, _ export: (Document) throws -> Exported?
        ) throws -> (documents: [JSONValue], next: Cursor?) {
            let page = try self.page(of: collection, query, after: cursor, limit: limit)
            let documents = try page.documents.compactMap { stored in
                try export(stored.document).map { try JSONValue(encoding: $0) }
            }
            return (documents, page.next)
        }
        switch part {
        case .classes:
            return try page(of: StudyStore.members, Query(where: StudyStore.memberAccount == person)) { member in
                try get(member.classID, from: StudyStore.classes).map { ExportedClass($0.document, member) }
            }
        case .attended:
            let query = Query(
                where: StudyStore.attendanceAccount == person, order: .ascending(StudyStore.attendanceJoined))
            return try page(of: StudyStore.attendances, query) { attendance in
                try get(attendance.session, from: StudyStore.sessions).map {
                    ExportedSession($0.document, attendance, of: person, at: now)
                }
            }
        case .hosted:
            let query = Query(where: StudyStore.sessionHost == person)
            return try page(of: StudyStore.sessions, query) { session -> ExportedSession? in
                // Those at which the person was are there already.
                guard try attendance(of: person, at: session.id) == nil else { return nil }
                return ExportedSession(session, nil, of: person, at: now)
            }
        case .posts:
            return try page(of: StudyStore.posts, Query(where: StudyStore.postAuthor == person)) { ExportedPost($0) }
        case .received:
            return try page(of: StudyStore.invites, Query(where: StudyStore.inviteTo == person)) {
                ExportedInvite($0, isOwn: false)
            }
        case .sent:
            return try page(of: StudyStore.invites, Query(where: StudyStore.inviteBy == person)) {
                ExportedInvite($0, isOwn: true)
            }
        }
    }
}

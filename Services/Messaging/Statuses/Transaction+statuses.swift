import Schemas
import Store

extension Transaction {
    /// The status of a person that others may see; `nil` for none, and for one that has ended.
    ///
    /// - Parameter account: In lower case.
    func status(of account: String, at now: UnixMilliseconds) throws -> StatusDocument? {
        try get(account, from: MessagingStore.statuses).flatMap { $0.document.isThere(at: now) ? $0.document : nil }
    }

    /// The same, by the id of the status.
    func status(_ id: ObjectID, at now: UnixMilliseconds) throws -> StatusDocument? {
        let found = try page(of: MessagingStore.statuses, Query(where: MessagingStore.statusID == id), limit: 1).documents
        return found.first.flatMap { $0.document.isThere(at: now) ? $0.document : nil }
    }

    /// The status that a request has made which is now repeated; `nil` for none.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if its key was used for another status.
    func repeatedStatus(
        _ command: SetStatus, of account: AccountName, at now: UnixMilliseconds
    ) throws -> StatusDocument? {
        guard let request = command.request(of: account), let known = try status(of: account.key, at: now),
            known.request == request
        else { return nil }
        guard known.text == command.draft.text, known.picture?.use == command.draft.picture else {
            throw CommandFailure.reusedKey(for: "status")
        }
        return known
    }

    /// The statuses of some persons as another one sees them, and that one's own.
    func statuses(of friends: [AccountName], for account: AccountName, at now: UnixMilliseconds) throws -> StatusList {
        let views = try page(
            of: MessagingStore.views, Query(where: MessagingStore.viewViewer == account.key), limit: PersonLimits.maxFriends)
        let seen = Set(views.documents.map(\.document.status))
        let keys = try stored(friends.map(\.key), in: MessagingStore.statusAccount, of: MessagingStore.statuses)
        let found = try keys.compactMap { try status(of: $0, at: now) }
        return StatusList(
            statuses: found.sorted { ($0.at, $0.status) > ($1.at, $1.status) }.map { $0.view(isSeen: seen.contains($0.status)) },
            own: try status(of: account.key, at: now)?.own, now: now)
    }
}

extension SetStatus {
    func request(of account: AccountName) -> String? { RequestHash.text(requestKey, of: account, for: "status") }
}

extension StatusDocument {
    /// Whether it has not ended, to the millisecond. One of a backup may have been taken back.
    func isThere(at now: UnixMilliseconds) -> Bool { now < expires && restored == nil }

    /// The status as a friend sees it.
    fileprivate func view(isSeen: Bool) -> PersonStatus {
        PersonStatus(id: status, account: name, text: text, picture: picture?.info, at: at, expires: expires, seen: isSeen)
    }

    /// The status as its person sees it.
    var own: OwnStatus {
        OwnStatus(id: status, text: text, picture: picture?.info, at: at, expires: expires, seen: seen)
    }
}

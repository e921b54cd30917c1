import Schemas
import Store

extension MessagingChange {
    /// How many views of a status are removed at once.
    private static let pageSize = 500

    /// Replaces a person's status. Repeated with the same key, it finds the same status.
    ///
    /// - Throws: ``CommandFailure``: `not_found` with the field `picture`; `conflict` with the field `request_key`;
    ///   `unauthenticated` if the person was erased.
    mutating func setStatus(_ command: SetStatus, of account: AccountName) throws -> StatusDocument {
        try transaction.requireNotErased(account)
        if let known = try transaction.repeatedStatus(command, of: account, at: now) { return known }
        // Everything that may fail comes before the first write, which would have to be undone.
        try transaction.checkRoom()
        var picture: StoredPicture?
        if let upload = command.draft.picture { picture = try use(upload, of: account, for: .status, expires: nil) }
        // An erasure of the person then conflicts with it, and leaves no status.
        _ = try nextPosition(of: account)
        try removeStatus(of: account.key)
        let status = StatusDocument(
            id: account.key, status: ObjectID(), name: account, text: command.draft.text, picture: picture, at: now,
            expires: now + MessagingLimits.statusTime, seen: 0, restored: nil, request: command.request(of: account))
        try transaction.insert(status, into: MessagingStore.statuses)
        return status
    }

    /// Removes a person's status, with its picture and who has seen it. Without one it changes nothing.
    ///
    /// - Parameter account: In lower case.
    mutating func removeStatus(of account: String) throws {
        guard let status = try transaction.get(account, from: MessagingStore.statuses)?.document else { return }
        try remove(status)
    }

    private mutating func remove(_ status: StatusDocument) throws {
        let query = Query(where: MessagingStore.viewStatus == status.status, order: .ascending(MessagingStore.viewViewer))
        while case let views = try transaction.page(of: MessagingStore.views, query, limit: Self.pageSize).documents,
            !views.isEmpty
        {
            try transaction.delete(views.map(\.document.id), from: MessagingStore.views)
        }
        if let picture = status.picture { try release(picture.use) }
        try transaction.delete([status.id], from: MessagingStore.statuses)
        removed()
    }

    /// A person has seen statuses of friends, each by its account and its id. Those that are not there any more are ignored.
    mutating func see(_ statuses: [(account: String, id: ObjectID)], as viewer: AccountName) throws {
        try transaction.requireNotErased(viewer)
        _ = try nextPosition(of: viewer)
        for (account, id) in statuses {
            guard let status = try transaction.status(of: account, at: now), status.status == id else { continue }
            let query = Query(where: MessagingStore.viewStatus == id, MessagingStore.viewViewer == viewer.key)
            guard try transaction.page(of: MessagingStore.views, query, limit: 1).documents.isEmpty else { continue }
            let view = StatusViewDocument(id: ObjectID(), status: id, viewer: viewer.key, expires: status.expires)
            try transaction.insert(view, into: MessagingStore.views)
            try transaction.update(account, in: MessagingStore.statuses) { $0.seen += 1 }
        }
    }

    /// Removes statuses that have ended, the earliest first.
    ///
    /// - Returns: How many were found.
    mutating func removeEndedStatuses(limit: Int) throws -> Int {
        let query = Query(where: MessagingStore.statusEnd <= now, order: .ascending(MessagingStore.statusEnd))
        let ended = try transaction.page(of: MessagingStore.statuses, query, limit: limit).documents.map(\.document)
        // Who has seen them expires with them.
        for status in ended {
            if let picture = status.picture { try release(picture.use) }
        }
        try transaction.delete(ended.map(\.id), from: MessagingStore.statuses)
        if !ended.isEmpty { removed() }
        return ended.count
    }

    /// Removes statuses that `msi restore` put back.
    ///
    /// - Returns: How many were found.
    mutating func removeRestoredStatuses(limit: Int) throws -> Int {
        let query = Query(where: MessagingStore.statusRestored >= 0, order: .ascending(MessagingStore.statusRestored))
        let found = try transaction.page(of: MessagingStore.statuses, query, limit: limit).documents.map(\.document)
        for status in found { try remove(status) }
        return found.count
    }

    /// Removes uploads that nobody has used in time, and old pictures of the hub's messages.
    ///
    /// - Returns: How many were found.
    mutating func removeEndedPictures(limit: Int) throws -> Int {
        let query = Query(where: MessagingStore.useEnd <= now, order: .ascending(MessagingStore.useEnd))
        let found = try transaction.page(of: MessagingStore.uses, query, limit: limit).documents.map(\.document)
        for use in found { try release(use.id) }
        return found.count
    }
}

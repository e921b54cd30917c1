import Schemas
import Store

/// Removes all that the service has of a person. It is done in many short transactions, and can be interrupted and run again.
struct PersonErasing: Sendable {
    let changes: StudyChanges

    /// How many documents one transaction changes.
    private static let pageSize = 500
    /// How often it is tried to empty the write-ahead log, for two seconds.
    private static let maxAttempts = 20

    private static let stays = [
        "that somebody with a number was at sessions of a class, with their topics and the minutes",
        "the account's name in the audit log, where roles were changed, or posts and sessions moderated",
        "for 13 hours a hash of the account's name, so that nobody joins a class with a token of the account",
    ]

    /// - Returns: What was removed by this call, and what stays.
    /// - Throws: ``CommandFailure``; then a part of it may be left, for the next call.
    func erase(_ account: AccountName) async throws -> ErasePerson.Reply {
        // From here on the person comes into no class, and so into no session.
        try await changes.make(by: .program) { change in try change.refuseErased(account) }
        let removed = [
            // Before the memberships, with which the rest of them goes.
            ErasedData(what: "invites", count: try await all { try $0.eraseInvites(of: account.key, limit: $1) }),
            ErasedData(what: "memberships", count: try await all { change, _ in try change.removeMembership(of: account) }),
            ErasedData(what: "posts", count: try await all { try $0.erasePosts(of: account.key, limit: $1) }),
            ErasedData(what: "attendances", count: try await all { try $0.eraseAttendances(of: account.key, limit: $1) }),
            ErasedData(what: "hosted_sessions", count: try await all { try $0.eraseHost(account.key, limit: $1) }),
            ErasedData(what: "pushes", count: try await erasePushes(of: account)),
        ]
        _ = try await all { try $0.erasePlaces(of: account.key, limit: $1) }
        _ = try await all { try $0.eraseRemover(account.key, limit: $1) }
        try await changes.store.transaction { try $0.delete([account.key], from: StudyStore.persons) }
        // No query finds invitations that have expired, and they are stored for a moment longer.
        try await changes.store.removeExpired()
        try await removeTraces()
        return ErasePerson.Reply(removed: removed, stays: Self.stays)
    }

    /// Another read may need the write-ahead log for a moment. Another call of the command would not know what was removed.
    private func removeTraces() async throws {
        for _ in 0..<Self.maxAttempts {
            do {
                return try await changes.store.removeTraces()
            } catch let failure as CommandFailure where failure.status == .unavailable {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        try await changes.store.removeTraces()
    }

    /// Repeats a part until it finds nothing more.
    ///
    /// - Parameter part: Changes as many documents as its second parameter says, and returns how many it has found.
    /// - Returns: How many it has found in all.
    private func all(_ part: @escaping @Sendable (inout StudyChange, Int) throws -> Int) async throws -> Int {
        var count = 0
        while true {
            let found = try await changes.make(by: .program) { change in try part(&change, Self.pageSize) }
            guard found > 0 else { return count }
            count += found
        }
    }

    private func erasePushes(of account: AccountName) async throws -> Int {
        var (count, cursor): (Int, Cursor?) = (0, nil)
        repeat {
            let page = try await changes.store.transaction { [cursor] transaction in
                try transaction.forgetPushes(of: account, after: cursor, limit: Self.pageSize)
            }
            count += page.count
            cursor = page.next
        } while cursor != nil
        return count
    }
}

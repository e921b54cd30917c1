import Base
import Schemas
import Store

/// Which accounts of students nobody uses, as the operator has set it.
struct UnusedLimits: Hashable, Sendable {
    /// Accounts are disabled after so many days without use; 0 is never.
    let days: Int
    /// After so many further days they are erased; 0 is never.
    let erasedDays: Int
}

/// A part of the accounts that nobody has used for a long time.
struct UnusedPage: Sendable {
    /// Those that were disabled.
    var disabled = 0
    /// Those that were disabled long ago, and are to be erased now.
    var toErase: [AccountName] = []
    /// Where the next part begins; `nil` after the last one.
    var next: Cursor?
}

extension PeopleChange {
    static let unusedAction = "account.unused"

    /// Disables students' accounts that nobody has used for a time. Those that a super user has disabled stay as they are.
    ///
    /// - Parameters:
    ///   - cursor: The end of the part before.
    ///   - limit: The maximum number of accounts to look at, and to end.
    mutating func disableUnused(_ limits: UnusedLimits, after cursor: Cursor?, limit: Int) throws -> UnusedPage {
        let query = Query(
            where: PeopleStore.role == .student, PeopleStore.usedOn < (now - .days(limits.days)).day,
            order: .ascending(PeopleStore.usedOn))
        let found = try transaction.page(of: PeopleStore.accounts, query, after: cursor, limit: limit)
        var page = UnusedPage(next: found.next)
        for account in found.documents.map(\.document) {
            if account.isActive {
                let now = now
                _ = try update(account.name, as: Self.unusedAction) { ($0.disabled, $0.unusedSince) = (true, now) }
                page.disabled += 1
            } else if account.isToErase(limits, at: now) {
                page.toErase.append(account.name)
            }
        }
        return page
    }

    /// Notes that a look for unused accounts is made now.
    ///
    /// - Returns: Whether accounts may end now: not within an hour of the last look, such as after a restart, and only if looks were made for
    ///   a day without a gap. After a restore of a backup, a long stop or a change of the clock, those who do use their accounts have a day to
    ///   do so.
    func noteUnusedCheck() throws -> Bool {
        let stored = try transaction.get(UnusedCheck.id, from: PeopleStore.unusedChecks)?.document
        guard let stored else {
            try transaction.insert(UnusedCheck(at: now, since: now), into: PeopleStore.unusedChecks)
            return false
        }
        if (stored.at..<stored.at + UnusedCheck.minGap).contains(now) { return false }
        let isGap = !(stored.at...stored.at + UnusedCheck.maxGap).contains(now)
        let since = isGap ? now : stored.since
        try transaction.update(stored.id, in: PeopleStore.unusedChecks) { ($0.at, $0.since) = (now, since) }
        return now - since >= UnusedCheck.trustTime
    }
}

extension AccountDocument {
    /// Whether it was disabled so long ago, because nobody used it, that its person is to be erased.
    func isToErase(_ limits: UnusedLimits, at now: UnixMilliseconds) -> Bool {
        guard isUnused, limits.erasedDays > 0, let since = unusedSince else { return false }
        return since < now - .days(limits.erasedDays)
    }
}

extension Milliseconds {
    fileprivate static func days(_ days: Int) -> Milliseconds { .seconds(Int64(days) * 86_400) }
}

/// The only document of `unused_check`: the last look for unused accounts.
struct UnusedCheck: StoredDocument, Hashable {
    static let id = "last"
    /// The times between two looks that follow each other. They are made at the start and every hour.
    static let minGap = Milliseconds.seconds(50 * 60)
    static let maxGap = Milliseconds.seconds(3 * 3_600)
    static let trustTime = Milliseconds.seconds(24 * 3_600)

    let id: String
    var at: UnixMilliseconds
    /// Since when looks are made without a gap.
    var since: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case at, since
    }

    init(at: UnixMilliseconds, since: UnixMilliseconds) {
        id = Self.id
        self.at = at
        self.since = since
    }
}

extension PeopleStore {
    static let unusedChecks = Collection<UnusedCheck>("unused_check", reserve: .everything)
}

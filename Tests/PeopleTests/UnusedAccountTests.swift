import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import People

/// The end of accounts that nobody uses.
@Suite("Unused accounts", .timeLimit(.minutes(10)))
struct UnusedAccountTests {
    private static let now = UnixMilliseconds(rawValue: 1_796_000_000_000)
    private static let day = Milliseconds.seconds(86_400)
    private static let limits = UnusedLimits(days: 30, erasedDays: 90)

    /// A student's account that was used so many days ago.
    private static func student(_ name: AccountName, days: Int, unused: Int? = nil, disabled: Bool = false) -> AccountDocument {
        func before(_ days: Int) -> UnixMilliseconds { now - .seconds(Int64(days) * 86_400) }
        var account = AccountDocument(name: name, role: .student, password: nil, openID: nil, created: before(days))
        account.disabled = disabled || unused != nil
        account.unusedSince = unused.map(before)
        return account
    }

    private func withStore(_ kind: StoreKind, _ body: (Storage) async throws -> Void) async throws {
        let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
        try await withTemporaryFolder { folder in
            let store = try await Storage.open(
                PeopleStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger)
            try await body(store)
            try await store.close()
        }
    }

    @Test(
        "What nobody used for the time is disabled, what was disabled for it long ago is to be erased, and all else stays",
        arguments: StoreKind.ofRules)
    func due(kind: StoreKind) async throws {
        try await withStore(kind) { store in
            var staff = AccountDocument(
                name: "staff", role: .communicator, password: nil, openID: nil, created: Self.now - .seconds(86_400 * 900))
            staff.signedIn = nil
            let accounts = [
                Self.student("today", days: 0), Self.student("recent", days: 29), Self.student("old", days: 32),
                Self.student("older", days: 400), Self.student("asleep", days: 80, unused: 45),
                Self.student("due", days: 150, unused: 92), Self.student("banned", days: 500, disabled: true), staff,
            ]
            try await store.transaction { try $0.insert(all: accounts, into: PeopleStore.accounts) }
            let page = try await store.transaction { transaction in
                var change = PeopleChange(transaction, issuer: nil, now: Self.now)
                return try change.disableUnused(Self.limits, after: nil, limit: 100)
            }
            #expect(page.disabled == 2 && page.toErase == ["due"] && page.next == nil)
            for account in accounts {
                let stored = try #require(try await store.get(account.id, from: PeopleStore.accounts)?.document)
                switch account.id {
                case "old", "older": #expect(stored.disabled && stored.unusedSince == Self.now && stored.isUnused)
                default: #expect(stored == account)
                }
            }

            // Parts follow each other, and 0 days is never.
            var (names, cursor): ([AccountName], Cursor?) = ([], nil)
            repeat {
                let part = try await store.transaction { [cursor] transaction in
                    var change = PeopleChange(transaction, issuer: nil, now: Self.now + .seconds(91 * 86_400))
                    return try change.disableUnused(Self.limits, after: cursor, limit: 2)
                }
                #expect(part.disabled + part.toErase.count <= 2)
                names += part.toErase
                cursor = part.next
            } while cursor != nil
            #expect(names == ["older", "due", "asleep", "old"])
            let never = try await store.transaction { transaction in
                var change = PeopleChange(transaction, issuer: nil, now: Self.now + .seconds(900 * 86_400))
                return try change.disableUnused(UnusedLimits(days: 1, erasedDays: 0), after: nil, limit: 100)
            }
            #expect(never.toErase.isEmpty)
        }
    }

    @Test("A person who comes back has the account again, unless a super user has disabled it")
    func back() {
        for (stored, isBack) in [
            (Self.student("asleep", days: 150, unused: 92), true), (Self.student("banned", days: 150, disabled: true), false),
        ] {
            var account = stored
            #expect(!account.isActive && account.isUnused == isBack)
            #expect(account.isToErase(Self.limits, at: Self.now) == isBack)
            account.use(at: Self.now)
            #expect(account.isActive == isBack && account.unusedSince == nil && account.usedOn == Self.now.day)
            #expect(!account.isToErase(Self.limits, at: Self.now))
        }
    }

    @Test("A use is worth storing once a day")
    func uses() {
        var account = Self.student("ann", days: 1)
        #expect(account.isNews(useAt: Self.now))
        account.use(at: Self.now)
        #expect(account.usedOn == Self.now.day && !account.isNews(useAt: Self.now.day + .seconds(86_399)))
        #expect(account.isNews(useAt: Self.now.day + Self.day))
    }

    @Test("Nothing ends before a day of looks without a gap, nor twice within an hour", arguments: StoreKind.ofRules)
    func trust(kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let beginning = (0..<24).map { (Double($0), false) }
            // A restart within the hour counts for nothing.
            let trusted = [(24, true), (24.1, false), (25, true), (27.9, true)]
            // A long stop, or a restore of a backup.
            let afterGap = (48..<72).map { (Double($0), false) } + [(72, true)]
            let setBack = [(60.0, false)]
            for (hours, isTrusted) in beginning + trusted + afterGap + setBack {
                let now = Self.now + .seconds(Int64(hours * 3_600))
                let result = try await store.transaction { try PeopleChange($0, issuer: nil, now: now).noteUnusedCheck() }
                #expect(result == isTrusted, "after \(hours) hours")
            }
        }
    }
}

extension PeopleServiceTests {
    @Suite("Unused accounts of the running service")
    struct UnusedAccountServiceTests {
        @Test("The service disables and erases one in a hundred accounts an hour, the least recently used first")
        func share() async throws {
            try await withTemporaryFolder { folder in
                let now = UnixMilliseconds.now
                @Sendable func before(_ days: Int) -> UnixMilliseconds { now - .seconds(Int64(days) * 86_400) }
                let store = try await Storage.open(
                    PeopleStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
                var accounts = (0..<296).map { index in
                    AccountDocument(
                        name: AccountName(stringLiteral: "s\(index)"), role: .student, password: nil, openID: nil, created: now)
                }
                accounts += [400, 300, 200, 100].map { days in
                    AccountDocument(
                        name: AccountName(stringLiteral: "unused\(days)"), role: .student, password: nil, openID: nil,
                        created: before(days))
                }
                accounts[296].disabled = true
                accounts[296].unusedSince = before(95)
                try await store.transaction { [accounts] transaction in
                    try transaction.insert(all: accounts, into: PeopleStore.accounts)
                    try transaction.insert(
                        UnusedCheck(at: now - .seconds(3_600), since: before(2)), into: PeopleStore.unusedChecks)
                }
                try await store.close()
                let settings = ["MSI_ACCOUNT_UNUSED_DAYS": "30", "MSI_ACCOUNT_ERASED_DAYS": "90"]
                try await RunningPeople.with(in: folder, settings: settings) { people in
                    func find(_ name: AccountName) async throws -> Account? {
                        try await people.client.request(ListAccounts(limit: 1, text: "\(name)")).accounts.first
                    }
                    try await eventually("the log line") { people.log.has("accounts that nobody uses were ended") }
                    #expect(try await find("unused400") == nil)
                    for name in ["unused300", "unused200"] as [AccountName] {
                        #expect(try await find(name)?.disabled == true)
                    }
                    for name in ["unused100", "s1"] as [AccountName] { #expect(try await find(name)?.disabled == false) }
                    let again = AddAccount(account: "unused400", password: RunningPeople.password, role: .student)
                    #expect(await people.client.failure(of: again)?.message.contains("never used again") == true)
                }
            }
        }

        @Test("A person who signs in again has an account that was disabled for that, and not one that a super user has disabled")
        func back() async throws {
            try await withTemporaryFolder { folder in
                try await RunningPeople.with(in: folder) { people in
                    try await people.setUp()
                    for name in ["asleep", "banned"] as [AccountName] { _ = try await people.signedIn(name) }
                    _ = try await people.client.request(UpdateAccount("banned", disabled: true))
                }
                let store = try await Storage.open(
                    PeopleStore.declaration, at: StoragePlace(database: nil, folder: folder), logger: quietLogger)
                try await store.update("asleep", in: PeopleStore.accounts) { ($0.disabled, $0.unusedSince) = (true, .now) }
                try await store.close()
                try await RunningPeople.with(in: folder) { people in
                    _ = try await people.signIn(RunningPeople.password(of: "asleep"))
                    #expect(try await people.client.request(FindAccount("asleep")).disabled == false)
                    #expect(try await people.refusal(of: RunningPeople.password(of: "banned"))?.status == .unauthenticated)
                }
            }
        }
    }
}

import Base
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store

/// Every hour, disables the accounts of students that nobody has used for a time, and erases those that nobody has used for a long time
/// after that. Both times are settings, and by default nothing is done.
///
/// It ends few accounts an hour, so that a mistake in a setting or of the clock is noticed before it has done much.
struct UnusedAccounts: Service {
    let changes: PeopleChanges
    let erasures: Erasures
    let days: LiveSetting<Int>
    let erasedDays: LiveSetting<Int>
    let logger: Logger

    private static let period = Duration.seconds(3_600)
    private static let pageSize = 100
    /// Of the accounts, one in so many ends within an hour.
    private static let maxShare = 100
    /// More accounts are not counted.
    private static let maxCounted = 1_000_000

    /// - Throws: ``ConfigurationError``.
    init(changes: PeopleChanges, erasures: Erasures, settings: SettingValues, logger: Logger) throws {
        self.changes = changes
        self.erasures = erasures
        self.logger = logger
        days = try settings.live(.unusedAccountDays)
        erasedDays = try settings.live(.erasedAccountDays)
    }

    func run() async {
        let outage = OutageLog("unused accounts cannot be ended", logger: logger)
        await RepeatingService(every: Self.period, outage: outage) {
            try await look()
        }.run()
    }

    /// Ends the accounts that are due, as many as one hour allows.
    func look() async throws {
        let limits = UnusedLimits(days: days.value, erasedDays: erasedDays.value)
        guard try await changes.make(by: .program, { try $0.noteUnusedCheck() }), limits.days > 0 else { return }
        let count = try await changes.store.snapshot { try $0.count(PeopleStore.accounts, upTo: Self.maxCounted) }
        let max = Swift.max(1, count / Self.maxShare)
        var (disabled, erased, cursor): (Int, Int, Cursor?) = (0, 0, nil)
        repeat {
            let limit = min(Self.pageSize, max - disabled - erased)
            let page = try await changes.make(by: .program) { [cursor] change in
                try change.disableUnused(limits, after: cursor, limit: limit)
            }
            disabled += page.disabled
            for name in page.toErase {
                if try await erase(name, limits) { erased += 1 }
            }
            cursor = page.next
        } while cursor != nil && disabled + erased < max
        guard disabled + erased > 0 else { return }
        logger.notice(
            "accounts that nobody uses were ended",
            metadata: ["disabled": "\(disabled)", "erased": "\(erased)", "more": "\(cursor != nil)"])
    }

    /// Erases the person of an account.
    ///
    /// - Returns: `false` if somebody has used, changed or removed the account in the meantime.
    private func erase(_ name: AccountName, _ limits: UnusedLimits) async throws -> Bool {
        do {
            _ = try await erasures.begin(name, by: .program) { change, account in
                guard account.isToErase(limits, at: change.now) else {
                    throw CommandFailure(.conflict, "\(account.name) is in use again")
                }
            }
            return true
        } catch let failure as CommandFailure where [.conflict, .notFound].contains(failure.status) {
            return false
        }
    }
}

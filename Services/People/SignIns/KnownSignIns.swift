import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Store
import Base

/// Reads from the audit log, at the start, from which addresses correct passwords have come recently, so that these are known after a
/// restart as well.
struct KnownSignIns: Service {
    let store: Storage
    let passwords: PasswordCheck
    let logger: Logger

    private static let pauseAfterFailure = Duration.seconds(5)
    private static let pageSize = 1_000
    /// Of the entries within the time that counts, the latest ones are read.
    private static let maxPages = 100

    func run() async throws {
        let outage = OutageLog("the known sign-ins cannot be read", logger: logger) { _ in true }
        await RepeatingService(every: Self.pauseAfterFailure, outage: outage, from: ()) { _ in
            passwords.remember(try await Self.read(from: store))
            return .never
        }.run()
    }

    /// The accounts and addresses with a right password, and when they had it last.
    static func read(from store: Storage) async throws -> [AttemptLimits.Purpose: ContinuousClock.Instant] {
        let now = UnixMilliseconds.now
        let instant = ContinuousClock.now
        var filter = AuditFilter()
        filter.action = BeginSignIn.name
        filter.from = now - Milliseconds(AttemptLimits.knownLifetime)
        let search = AuditSearch(filter)
        var known: [AttemptLimits.Purpose: ContinuousClock.Instant] = [:]
        var next: String?
        for _ in 0..<maxPages {
            let page = try await search.page(after: try Cursor(after: next), limit: pageSize, in: store)
            for entry in page.entries.map(\.entry) {
                guard let account = entry.actor, let address = entry.address else { continue }
                let purpose = PasswordCheck.Purpose.signIn(account: account, address: address).limited
                // The latest one comes first. A time in the future counts as now.
                if known[purpose] == nil { known[purpose] = instant - Duration(max(.zero, now - entry.at)) }
            }
            next = page.next
            if next == nil || known.count >= AttemptLimits.maxKnown { break }
        }
        return known
    }
}

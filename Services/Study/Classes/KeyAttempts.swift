import Base
import Schemas
import ServiceKit
import Synchronization

/// Limits wrong keys of classes by account and by the client's address. Right ones never count: a hall of students is behind one
/// address. Each instance of the service counts for itself.
final class KeyAttempts: Sendable {
    private let wrong = Mutex(WrongKeys())

    /// Uses a key, and counts it if it is wrong.
    ///
    /// - Parameter address: The client's. An IPv6 address counts with its /64 network. All that are unknown count together.
    /// - Throws: ``CommandFailure`` with `overloaded` after too many wrong keys; the error of `use`.
    func check<Value: Sendable>(
        of account: AccountName, from address: String, _ use: () async throws -> Value
    ) async throws -> Value {
        let client = IPAddress(address)?.customer
        if let wait = wrong.withLock({ $0.begin(account.key, client, now: .now) }) {
            throw CommandFailure(
                .overloaded, "you have tried too many wrong keys; try again later", retryAfter: max(1, Milliseconds(wait)))
        }
        do {
            let value = try await use()
            wrong.withLock { $0.wasRight(account.key) }
            return value
        } catch let failure as CommandFailure where failure == .wrongClassKey {
            wrong.withLock { $0.wasWrong(client, now: .now) }
            throw failure
        } catch {
            // It was not used, or it was right and something else stands in the way.
            wrong.withLock { $0.wasRight(account.key) }
            throw error
        }
    }
}

/// The wrong keys of ten minutes. Pure: the caller passes the time.
///
/// A key of an account counts as wrong from its beginning, so that simultaneous ones are limited as well. For an address it
/// counts only in the end: many persons may try right keys there at the same moment.
struct WrongKeys: Sendable {
    static let period = Duration.seconds(600)

    private var accounts: WindowCounts<String>
    private var addresses: WindowCounts<IPAddress?>

    init(maxPerAccount: Int = StudyLimits.wrongKeysPerAccount, maxPerAddress: Int = StudyLimits.wrongKeysPerAddress) {
        accounts = WindowCounts(Self.period, max: maxPerAccount)
        addresses = WindowCounts(Self.period, max: maxPerAddress)
    }

    /// Begins an attempt, unless it has to wait.
    ///
    /// - Parameter account: The name in lower case.
    /// - Returns: How long it has to wait; `nil` if it need not.
    mutating func begin(_ account: String, _ address: IPAddress?, now: ContinuousClock.Instant) -> Duration? {
        let wait = max(accounts.wait(of: account, now: now), addresses.wait(of: address, now: now))
        guard wait <= .zero else { return wait }
        accounts.count(account, now: now)
        return nil
    }

    mutating func wasRight(_ account: String) { accounts.uncount(account) }

    mutating func wasWrong(_ address: IPAddress?, now: ContinuousClock.Instant) { addresses.count(address, now: now) }
}

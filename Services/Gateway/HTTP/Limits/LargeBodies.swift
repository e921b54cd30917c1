import HTTPTypes
import Schemas
import Synchronization

/// Limits how many bodies beyond the size of JSON arrive and are handled at a time, so that they need little memory: in total,
/// and of each account, so that none keeps out the others.
final class LargeBodies: Sendable {
    static let maxCount = 32
    static let maxPerAccount = 4

    private let counts = Mutex<[AccountName: Int]>([:])

    /// Counts a body until its end.
    ///
    /// - Parameter account: Whose it is; `nil` for a body that does not count.
    /// - Throws: ``Problem`` if there are too many.
    func begin(of account: AccountName?) throws(Problem) {
        guard let account else { return }
        try counts.withLock { counts throws(Problem) in
            let own = counts[account, default: 0]
            guard own < Self.maxPerAccount else {
                throw Problem(
                    .tooManyRequests, "\(account) is sending \(own) large bodies already.", headers: [.retryAfter: "2"])
            }
            guard counts.values.reduce(0, +) < Self.maxCount else {
                throw Problem(.overloaded, "The gateway is reading \(Self.maxCount) large bodies already.")
            }
            counts[account] = own + 1
        }
    }

    /// - Parameter account: As in ``begin(of:)``.
    func end(of account: AccountName?) {
        guard let account else { return }
        counts.withLock { counts in
            let rest = counts[account, default: 0] - 1
            counts[account] = rest > 0 ? rest : nil
        }
    }
}

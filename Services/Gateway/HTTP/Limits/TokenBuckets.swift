import HTTPTypes
import NIOCore
import ServiceKit
import Synchronization

/// A token bucket for each key, in bounded memory. Pure. Times are those of any monotonic clock.
///
/// A bucket holds the requests of one period, and refills evenly. It is stored as the time at which it is full again (the
/// "generic cell rate algorithm"). A bucket that is not stored is full.
struct TokenBuckets<Key: Hashable & Sendable>: Sendable {
    /// The number of tokens in a full bucket.
    private(set) var capacity: Int
    /// The time in which an empty bucket becomes full.
    let period: TimeAmount
    /// The maximum number of buckets that are stored.
    let maxStored: Int
    private var fullAt: [Key: NIODeadline] = [:]

    init(capacity: Int, period: TimeAmount = .minutes(1), maxStored: Int = 65_536) {
        self.capacity = capacity
        self.period = period
        self.maxStored = maxStored
    }

    /// The number of buckets that are stored.
    var stored: Int { fullAt.count }

    /// Takes a token from the bucket of a key, if there is one.
    mutating func take(_ key: Key, at now: NIODeadline) -> TokenOutcome {
        let interval = period.nanoseconds / Int64(capacity)
        let fullAtNow = max(fullAt[key] ?? now, now)
        let next = fullAtNow + .nanoseconds(interval)
        let debt = (next - now).nanoseconds
        guard debt <= period.nanoseconds else {
            return TokenOutcome(remaining: 0, reset: fullAtNow - now, wait: .nanoseconds(debt - period.nanoseconds))
        }
        if fullAt.count >= maxStored, fullAt[key] == nil { makeRoom(at: now) }
        fullAt[key] = next
        return TokenOutcome(remaining: Int((period.nanoseconds - debt) / interval), reset: .nanoseconds(debt), wait: nil)
    }

    /// Takes a token from a bucket of another size, if the size has changed.
    ///
    /// - Parameter capacity: The size of all buckets from now on. A bucket that is not full keeps the time at which it is full, and
    ///   so the proportion of its tokens.
    mutating func take(_ key: Key, of capacity: Int, at now: NIODeadline) -> TokenOutcome {
        self.capacity = capacity
        return take(key, at: now)
    }

    /// Forgets the buckets that are full. If that is not enough, also forgets the fullest half, where the fewest used tokens are
    /// lost.
    private mutating func makeRoom(at now: NIODeadline) {
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count > maxStored / 2 else { return }
        let middle = fullAt.values.sorted()[fullAt.count / 2]
        fullAt = fullAt.filter { $0.value > middle }
    }
}

/// The result of taking a token.
struct TokenOutcome: Hashable, Sendable {
    /// The tokens that are left.
    let remaining: Int
    /// The time from now until the bucket is full again.
    let reset: TimeAmount
    /// How long to wait for a token; `nil` if one was taken.
    let wait: TimeAmount?
}

/// Limits how often something may be done from a client address.
final class AddressLimit: Sendable {
    private let buckets: Mutex<TokenBuckets<IPAddress?>>
    private let detail: String

    /// - Parameters:
    ///   - perMinute: For each address.
    ///   - detail: The text of the problem.
    init(perMinute: Int, _ detail: String) {
        buckets = Mutex(TokenBuckets(capacity: perMinute))
        self.detail = detail
    }

    /// - Throws: ``Problem`` if the limit is reached.
    func count(_ client: IPAddress?, at now: NIODeadline = .now()) throws {
        guard let wait = buckets.withLock({ $0.take(client?.customer, at: now) }).wait else { return }
        throw Problem(.tooManyRequests, detail, headers: [.retryAfter: String(wait.wholeSeconds)])
    }
}

extension TimeAmount {
    /// Whole seconds, rounded up.
    var wholeSeconds: Int64 { (nanoseconds + 999_999_999) / 1_000_000_000 }
}

import HTTPTypes
import NIOCore
import ServiceKit
import Synchronization

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

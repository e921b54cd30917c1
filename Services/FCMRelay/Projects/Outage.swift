import FoundationEssentials
import Schemas

/// An outage of a project's dependency, such as FCM or the token endpoint.
struct Outage: Hashable, Sendable {
    let code: String
    let message: String
    let since: UnixMilliseconds
    private let last: ContinuousClock.Instant

    /// While messages wait for FCM, one is retried within this time. After a longer silence the outage may be over.
    private static let memory = Duration.seconds(900)

    /// - Parameter former: The outage until now, if any.
    init(_ error: DeliveryError, after former: Outage?) {
        self.init(code: error.code, message: error.message, after: former)
    }

    init(code: String, message: String, after former: Outage?) {
        self.code = code
        self.message = message
        since = former.flatMap { $0.isRecent ? $0.since : nil } ?? .now
        last = .now
    }

    var isRecent: Bool { ContinuousClock.now - last < Self.memory }

    /// When it began, as in `2026-11-22T16:20:00Z`.
    var begin: String { Date(since).formatted(.iso8601) }

    /// One sentence for the operator.
    var description: String { "\(code): \(message), since \(begin)" }
}

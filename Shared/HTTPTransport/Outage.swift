import FoundationEssentials
package import Schemas

/// An outage of a server that the service depends on.
package struct Outage: Hashable, Sendable {
    package let code: String
    package let message: String
    package let since: UnixMilliseconds
    private let last: ContinuousClock.Instant

    /// While messages wait for the server, one is retried within this time. After a longer silence the outage may be over.
    private static let memory = Duration.seconds(900)

    /// - Parameter previous: The outage until now, if any.
    package init(_ error: DeliveryError, after previous: Outage?) {
        self.init(code: error.code, message: error.message, after: previous)
    }

    package init(code: String, message: String, after previous: Outage?) {
        self.code = code
        self.message = message
        since = previous.flatMap { $0.isRecent ? $0.since : nil } ?? .now
        last = .now
    }

    package var isRecent: Bool { ContinuousClock.now - last < Self.memory }

    /// When it began, as in `2026-11-22T16:20:00Z`.
    package var begin: String { Date(since).formatted(.iso8601) }

    /// One sentence for the operator.
    package var description: String { "\(code): \(message), since \(begin)" }
}

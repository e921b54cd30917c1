import NIOCore
import Synchronization

/// What a connection is doing, for the decision which one is closed when there is no room for another.
final class ConnectionActivity: Sendable {
    private struct State {
        /// Since when the gateway waits for the client; `nil` while it works on a request, or sends a stream of events.
        var waitsSince: NIODeadline?
        /// Whether a request had a valid credential.
        var hasCredential = false
    }

    private let state: Mutex<State>

    init(openedAt now: NIODeadline) {
        state = Mutex(State(waitsSince: now))
    }

    /// The connection waits for the client since a time; `nil` if it does not.
    func waits(since time: NIODeadline?) {
        state.withLock { $0.waitsSince = time }
    }

    /// A request had a valid credential.
    func showedCredential() {
        state.withLock { $0.hasCredential = true }
    }

    /// How dispensable the connection is: the smallest one is closed first; `nil` if it must not be closed.
    ///
    /// - Parameter since: The connection waits at least since this time.
    func rank(waitingSince since: NIODeadline) -> Rank? {
        state.withLock { state in
            guard let waits = state.waitsSince, waits <= since else { return nil }
            return Rank(hasCredential: state.hasCredential, waitsSince: waits)
        }
    }

    /// Connections without a credential first; of these, the one that has waited longest.
    struct Rank: Comparable, Sendable {
        let hasCredential: Bool
        let waitsSince: NIODeadline

        static func < (one: Rank, other: Rank) -> Bool {
            one.hasCredential != other.hasCredential ? other.hasCredential : one.waitsSince < other.waitsSince
        }
    }
}

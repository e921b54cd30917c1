import DequeModule
import Glibc
import Logging
import NIOCore
import Synchronization

/// Limits the number of connections.
///
/// A few connections above the maximum are accepted as surplus: ``ConnectionLimitMiddleware`` answers `GET /health` on
/// them, and 503 to everything else. If there are too many surplus connections as well, the oldest is closed, so that a new
/// one is always served.
final class ConnectionLimit: Sendable {
    private struct State {
        var open = 0
        /// The connections that were opened above the maximum, the oldest first.
        var surplus: Deque<any Channel> = []
        /// Whether the log's last line says that there is no room.
        var isReported = false
    }

    /// The maximum number of connections.
    let maxConnections: Int
    private let logger: Logger
    private let state = Mutex(State())

    private static let maxSurplus = 16
    /// Descriptors that are kept for the bus, the log and the event loops.
    private static let otherDescriptors = 100

    /// - Parameter maxConnections: The maximum; it is reduced if the process may not have enough descriptors.
    init(maxConnections: Int, logger: Logger) {
        let room = max(1, Self.maxDescriptors - Self.otherDescriptors - Self.maxSurplus)
        if maxConnections > room {
            logger.warning(
                "the limit of open descriptors (ulimit -n) is too low for all connections",
                metadata: ["wanted": "\(maxConnections)", "possible": "\(room)"])
        }
        self.maxConnections = min(maxConnections, room)
        self.logger = logger
    }

    /// Counts a connection until it is closed.
    func opened(_ channel: any Channel) {
        let (oldest, isNews) = state.withLock { state in
            state.open += 1
            guard state.open > maxConnections else { return (nil as (any Channel)?, false) }
            state.surplus.append(channel)
            defer { state.isReported = true }
            return (state.surplus.count > Self.maxSurplus ? state.surplus.removeFirst() : nil, !state.isReported)
        }
        if isNews {
            logger.warning(
                "there is no room for another connection; new ones are refused, except for GET /health",
                metadata: ["max_connections": "\(maxConnections)"])
        }
        oldest?.close(promise: nil)
        channel.closeFuture.whenComplete { _ in self.closed(channel) }
    }

    /// Whether a connection is above the maximum.
    func isSurplus(_ channel: any Channel) -> Bool {
        state.withLock { state in state.surplus.contains { $0 === channel } }
    }

    private func closed(_ channel: any Channel) {
        let isNews = state.withLock { state in
            state.open -= 1
            state.surplus.removeAll { $0 === channel }
            // Hysteresis: the log reports free room only well below the maximum.
            guard state.isReported, state.open <= maxConnections - max(1, maxConnections / 10) else { return false }
            state.isReported = false
            return true
        }
        if isNews {
            logger.notice("there is room for connections again", metadata: ["max_connections": "\(maxConnections)"])
        }
    }

    /// The process's limit of descriptors.
    private static var maxDescriptors: Int {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return 1_024 }
        return Int(clamping: limits.rlim_cur)
    }
}

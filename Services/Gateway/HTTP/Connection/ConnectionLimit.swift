import DequeModule
import Glibc
import Logging
import NIOCore
import Synchronization

/// Counts the connections and limits their number.
///
/// A few connections above the maximum are kept as surplus: on them, ``ConnectionLimitMiddleware`` answers `GET /health`, and
/// 503 to everything else. If there are too many of these as well, the oldest is closed, so that a new one is always served.
final class ConnectionLimit: Sendable {
    private struct State {
        var open = 0
        /// The connections above the maximum, oldest first.
        var surplus: Deque<any Channel> = []
        /// Whether the log says that the maximum is reached.
        var isReported = false
    }

    /// How many connections are served at a time.
    let maxConnections: Int
    private let logger: Logger
    private let state = Mutex(State())

    private static let maxSurplus = 16
    /// Descriptors for everything else: the bus, the log, event loops.
    private static let otherDescriptors = 100

    /// - Parameter maxConnections: Reduced if the process may not have so many descriptors.
    init(maxConnections: Int, logger: Logger) {
        let room = max(1, Self.maxDescriptors - Self.otherDescriptors - Self.maxSurplus)
        if maxConnections > room {
            logger.warning(
                "the process may not have descriptors for all connections (ulimit -n)",
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
            // Hysteresis: one connection that comes and goes at the maximum does not fill the log.
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

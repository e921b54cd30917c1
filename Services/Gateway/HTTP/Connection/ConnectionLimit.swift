import Glibc
import Logging
import NIOCore
import Synchronization

/// Counts the connections, and says for which there is room.
///
/// A few above the maximum are opened all the same, as surplus: ``ConnectionLimitMiddleware`` answers `GET /health` on them, and
/// 503 to everything else. All others are closed at once.
final class ConnectionLimit: Sendable {
    private struct State {
        var open = 0
        /// The connections that were opened above the maximum.
        var surplus: Set<ObjectIdentifier> = []
        /// Whether the log says that there is no room.
        var isReported = false
    }

    /// How many may be served at a time.
    let maxConnections: Int
    private let logger: Logger
    private let state = Mutex(State())

    private static let maxSurplus = 16
    /// What the gateway needs beside its connections: the bus, the log, event loops.
    private static let otherDescriptors = 100

    /// - Parameter maxConnections: Fewer where the process may not have so many descriptors.
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

    /// Opens a connection.
    ///
    /// - Returns: Whether there is room for it.
    func open(_ channel: any Channel) -> Bool {
        let identity = ObjectIdentifier(channel)
        let (isOpen, isNews) = state.withLock { state in
            let isSurplus = state.open >= maxConnections
            let isNews = isSurplus && !state.isReported
            if isNews { state.isReported = true }
            guard state.open < maxConnections + Self.maxSurplus else { return (false, isNews) }
            state.open += 1
            if isSurplus { state.surplus.insert(identity) }
            return (true, isNews)
        }
        if isNews {
            logger.warning(
                "there is no room for another connection; new ones are refused, except for GET /health",
                metadata: ["max_connections": "\(maxConnections)"])
        }
        if isOpen { channel.closeFuture.whenComplete { _ in self.closed(identity) } }
        return isOpen
    }

    /// Whether a connection is one above the maximum.
    func isSurplus(_ channel: any Channel) -> Bool {
        let identity = ObjectIdentifier(channel)
        return state.withLock { $0.surplus.contains(identity) }
    }

    private func closed(_ identity: ObjectIdentifier) {
        let isNews = state.withLock { state in
            state.open -= 1
            state.surplus.remove(identity)
            // Some way below the maximum, so that one connection that comes and goes is not news each time.
            guard state.isReported, state.open <= maxConnections - max(1, maxConnections / 10) else { return false }
            state.isReported = false
            return true
        }
        if isNews {
            logger.notice("there is room for connections again", metadata: ["max_connections": "\(maxConnections)"])
        }
    }

    /// How many descriptors the process may have.
    private static var maxDescriptors: Int {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return 1_024 }
        return Int(clamping: limits.rlim_cur)
    }
}

import Glibc
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServiceKit
import Synchronization

/// Limits the number of connections, in total and of each client address.
///
/// When a maximum is reached, connections that wait for their client are closed, first those that have shown no credential. If there
/// are none, a few connections above the maximum are accepted as surplus: ``check(_:on:)`` lets the gateway answer `GET /health` on
/// them, and 503 or 429 to everything else. If there are too many surplus connections as well, the oldest is closed, so that a new
/// one is always served.
final class ConnectionLimit: Sendable {
    /// The maximum that a connection exceeds.
    enum Excess: Hashable, Sendable {
        case total
        case ofAddress
    }

    /// The maximum number of connections.
    let maxConnections: Int
    /// The maximum number of connections of one address.
    let maxPerAddress: Int
    /// Addresses whose connections are not counted, such as a proxy's, which are those of many clients.
    private let isExempt: @Sendable (IPAddress) -> Bool
    private let logger: Logger
    private let state: Mutex<OpenConnections>

    /// Descriptors that are kept for the bus, the log and the event loops.
    private static let otherDescriptors = 100

    /// - Parameters:
    ///   - maxConnections: The maximum; it is reduced if the process's limit of descriptors is lower.
    ///   - maxPerAddress: The maximum for one address.
    ///   - minWait: How long a connection must have waited for its client before it is closed for another.
    ///   - isExempt: Whether the second maximum does not apply to an address.
    init(
        maxConnections: Int, maxPerAddress: Int, minWait: TimeAmount = .seconds(1),
        isExempt: @escaping @Sendable (IPAddress) -> Bool = { _ in false }, logger: Logger
    ) {
        let room = max(1, Self.maxDescriptors - Self.otherDescriptors - OpenConnections.maxSurplus)
        if maxConnections > room {
            logger.warning(
                "the limit of open descriptors (ulimit -n) is too low for all connections",
                metadata: ["wanted": "\(maxConnections)", "possible": "\(room)"])
        }
        self.maxConnections = min(maxConnections, room)
        self.maxPerAddress = maxPerAddress
        self.isExempt = isExempt
        self.logger = logger
        state = Mutex(OpenConnections(max: self.maxConnections, maxPerAddress: maxPerAddress, minWait: minWait))
    }

    /// Counts a connection until it is closed.
    ///
    /// - Returns: Its activity, which the connection's handlers report.
    func opened(_ channel: any Channel) -> ConnectionActivity {
        let activity = ConnectionActivity(openedAt: .now())
        let address = IPAddress(channel.remoteAddress).flatMap { isExempt($0) ? nil : $0.customer }
        let (excess, isNews) = state.withLock { $0.opened(channel, activity, of: address, at: .now()) }
        if isNews {
            logger.warning(
                "there is no room for another connection; new ones are refused, except for GET /health",
                metadata: ["max_connections": "\(maxConnections)"])
        }
        for other in excess { other.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in self.closed(channel) }
        return activity
    }

    /// The number of open connections.
    var count: Int { state.withLock(\.count) }

    /// Which maximum a connection exceeds; `nil` for none.
    func excess(of channel: any Channel) -> Excess? {
        state.withLock { $0[channel]?.excess }
    }

    /// A request on the connection had a valid credential.
    func showedCredential(_ channel: any Channel) {
        state.withLock { $0[channel]?.activity }?.showedCredential()
    }

    private func closed(_ channel: any Channel) {
        let isNews = state.withLock { $0.closed(channel) }
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

extension ConnectionLimit {
    /// Refuses requests on connections above a maximum, except `GET /health`, so that monitoring works under overload. Either
    /// answer ends the connection.
    ///
    /// - Returns: Whether the connection is above a maximum.
    /// - Throws: ``Problem``.
    func check(_ request: Request, on channel: any NIOCore.Channel) throws -> Bool {
        guard let excess = excess(of: channel) else { return false }
        guard request.uri.path == "/health", request.method == .get || request.method == .head else {
            throw Problem(excess, self)
        }
        return true
    }
}

extension Problem {
    fileprivate init(_ excess: ConnectionLimit.Excess, _ limit: ConnectionLimit) {
        switch excess {
        case .total:
            self.init(
                .overloaded, "The gateway serves \(limit.maxConnections) connections already.", headers: [.connection: "close"])
        case .ofAddress:
            self.init(
                .tooManyRequests, "This address has \(limit.maxPerAddress) connections already.",
                headers: [.connection: "close", .retryAfter: "2"])
        }
    }
}

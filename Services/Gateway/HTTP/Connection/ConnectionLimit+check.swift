import HTTPTypes
import Hummingbird
import NIOCore

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

import Schemas

extension CommandFailure {
    /// The failure of a request that no service answered.
    ///
    /// - Parameter lookup: Why an endpoint has no address, if that is why there is no connection.
    init<Request>(
        _ failure: ClientPoolStateMachine<Request>.Failure, endpoints: [String], lookup: NameLookup.Failure? = nil
    ) {
        switch failure {
        case .overloaded:
            self.init(.overloaded, "too many requests are under way to \(Self.list(endpoints)); not sent")
        case .notConnected:
            let reason = lookup.map { " (\($0))" } ?? ""
            self.init(.unavailable, "no connection to \(Self.list(endpoints))\(reason); not sent")
        case .connectionLost(let endpoint):
            self.init(.unavailable, "connection lost to \(endpoints[endpoint]), outcome unknown")
        case .deadlineExceeded:
            self.init(.deadlineExceeded, "no reply from \(Self.list(endpoints)) in time, outcome unknown")
        case .cancelled:
            self.init(.unavailable, "cancelled")
        case .stopped:
            self.init(.unavailable, Self.closedMessage)
        }
    }

    /// The bus, or the client, is closed.
    static let closedMessage = "the client is closed"

    private static func list(_ endpoints: [String]) -> String {
        endpoints.count <= 3
            ? endpoints.joined(separator: ", ") : "\(endpoints[0]) and \(endpoints.count - 1) others"
    }
}

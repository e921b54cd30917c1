package import Schemas

extension CommandFailure {
    /// The failure of a request that no service answered.
    ///
    /// - Parameters:
    ///   - endpoints: As in the settings.
    ///   - name: Stands for the endpoints in the text; `nil` to show them.
    ///   - problem: Why there is no connection, if that is known.
    ///   - endpoint: The endpoint with a number in the pool.
    init<Request>(
        _ failure: ClientPoolStateMachine<Request>.Failure, endpoints: [String], name: String? = nil,
        problem: ConnectionProblem? = nil, _ endpoint: (Int) -> String
    ) {
        let service = name ?? Self.list(endpoints)
        switch failure {
        case .overloaded:
            self.init(.overloaded, "too many requests are under way to \(service); the command was not sent")
        case .notConnected:
            let reason = name == nil ? problem.map { " (\($0))" } ?? "" : ""
            self.init(.unavailable, "\(Self.noConnection)\(service)\(reason); the command was not sent")
        case .connectionLost(let number):
            self.init(.unavailable, "connection lost to \(name ?? endpoint(number)), outcome unknown")
        case .deadlineExceeded:
            self.init(.deadlineExceeded, "no reply from \(service) in time, outcome unknown")
        case .cancelled:
            self.init(.unavailable, "cancelled")
        case .stopped:
            self.init(.unavailable, Self.closedMessage)
        }
    }

    private static let noConnection = "no connection to "

    /// Whether the client had no connection. Otherwise a service has answered, or its answer is missing.
    package var isWithoutConnection: Bool { status == .unavailable && message.hasPrefix(Self.noConnection) }

    /// The bus, or the client, is closed.
    static let closedMessage = "the client is closed"

    private static func list(_ endpoints: [String]) -> String {
        endpoints.count <= 3
            ? endpoints.joined(separator: ", ") : "\(endpoints[0]) and \(endpoints.count - 1) others"
    }
}

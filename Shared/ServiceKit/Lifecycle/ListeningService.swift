package import ServiceLifecycle

/// A server whose failure names where it was to listen, which the system's own words do not.
package struct ListeningService: Service {
    private let server: any Service
    private let address: String

    /// - Parameter address: Such as `http://127.0.0.1:8080`.
    package init(_ server: any Service, at address: String) {
        self.server = server
        self.address = address
    }

    /// - Throws: ``ListeningFailure``.
    package func run() async throws {
        do {
            try await server.run()
        } catch {
            throw ListeningFailure(description: "\(address) cannot be served: \(error)")
        }
    }
}

/// A server could not listen, or had to stop: where, and why.
package struct ListeningFailure: Error, CustomStringConvertible {
    package let description: String
}

package import ServiceLifecycle

/// Wraps a server, so that its failure names the address.
package struct ListeningService: Service {
    private let server: any Service
    private let address: String

    /// - Parameter address: The address for errors, such as `http://127.0.0.1:8080`.
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

/// A server could not listen or had to stop: the address and the reason.
package struct ListeningFailure: Error, CustomStringConvertible {
    package let description: String
}

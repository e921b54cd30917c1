package import Bus
package import Schemas

/// A client that waits as long as a busy machine may need for an answer.
package struct PatientClient: Sendable {
    private static let timeout = Duration.seconds(60)

    package let client: CommandClient

    package init(client: CommandClient) {
        self.client = client
    }

    package func request<C: Command>(
        _ command: C, context: CallerContext = .init()
    ) async throws(CommandFailure) -> C.Reply {
        try await client.request(command, timeout: Self.timeout, context: context)
    }

    /// The failure of a command, or `nil` if it succeeds.
    package func failure<C: Command>(of command: C, context: CallerContext = .init()) async -> CommandFailure? {
        do throws(CommandFailure) {
            _ = try await request(command, context: context)
            return nil
        } catch {
            return error
        }
    }

    /// The failure of a command with a handwritten payload, or `nil` if it succeeds.
    package func failure(of name: String, _ payload: String, context: CallerContext = .init()) async -> CommandFailure? {
        await client.failure(of: name, payload, context: context)
    }
}

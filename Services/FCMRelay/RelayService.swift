import CommandBus
import ServiceLifecycle

/// The relay while it runs: answers commands, and when it is told to stop, answers those that it has accepted.
struct RelayService: Service {
    /// How long sends that are under way may still take; less than the server waits for its handlers, so that they, and
    /// not the server, say what became of each component.
    private static let timeToFinish = Duration.seconds(5)

    let server: CommandServer
    let transport: CurlTransport
    let tokens: AccessTokenSource

    func run() async throws {
        // The first message need not wait for it, and a key that Google refuses is in the log before there is a message.
        tokens.prepare()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: Self.timeToFinish)
                // Every send that is still under way ends with a retryable error.
                await transport.close()
            }
            try await group.next()
            group.cancelAll()
        }
    }
}

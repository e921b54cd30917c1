import CommandBus
import ServiceLifecycle

/// The relay while it runs: answers commands, and when it is told to stop, answers those that it has accepted.
struct RelayService: Service {
    let server: CommandServer
    let transport: CurlTransport
    let tokens: AccessTokenSource
    let pacer: Pacer
    /// How long sends that are under way may still take when it stops; less than the server waits for its handlers, so that
    /// they, and not the server, say what became of each component.
    var timeToFinish = Duration.seconds(5)

    func run() async throws {
        // The first message need not wait for it, and a key that Google refuses is in the log before there is a message.
        tokens.prepare()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: timeToFinish)
                // Every send that waits or is still under way ends with a retryable error.
                pacer.stop()
                await transport.close()
            }
            try await group.next()
            group.cancelAll()
        }
    }
}

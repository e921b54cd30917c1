import CommandBus
import ServiceLifecycle

/// The relay while it runs: answers commands, and when it is told to stop, answers those that it has accepted.
struct RelayService: Service {
    let server: CommandServer
    let projects: [Project]
    /// How long sends that are under way may still take when it stops; less than the server waits for its handlers, so that
    /// they, and not the server, say what became of each component.
    var timeToFinish = Duration.seconds(5)

    func run() async throws {
        for project in projects { project.prepare() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: timeToFinish)
                for project in projects { await project.close() }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}

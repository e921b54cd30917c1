import CommandBus
import ServiceKit
import ServiceLifecycle

/// The relay while it runs: answers commands, and when it is told to stop, answers those that it has accepted.
struct RelayService: Service {
    let server: CommandServer
    let projects: [Project]
    /// How long sends that are under way may still take when it stops. Requests to FCM that have begun by then are answered.
    var timeToFinish = DeliveryTimes.relayStopTimeout

    func run() async throws {
        for project in projects { project.prepare() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                try await gracefulShutdown()
                let timeToBegin = max(.zero, timeToFinish - DeliveryTimes.fcmRequestTimeout)
                try await Task.sleep(for: timeToBegin)
                for project in projects { project.stopSending() }
                try await Task.sleep(for: timeToFinish - timeToBegin)
                for project in projects { await project.close() }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}

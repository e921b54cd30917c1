import CommandBus
import ServiceKit
import ServiceLifecycle

/// Runs the relay: answers commands and, when it stops, all accepted ones.
struct RelayService: Service {
    let server: CommandServer
    let projects: [Project]
    /// The maximum duration of the stop. No request to FCM begins in its last part, so that each request is answered.
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

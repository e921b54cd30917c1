import Bus
import ServiceKit
import ServiceLifecycle

/// Answers commands and, when it stops, all accepted ones.
struct WebPushServer: Service {
    let server: CommandServer
    /// `nil` while the operator has named no contact.
    let pushServices: PushServices?
    /// The maximum duration of the stop. No push begins in its last part, so that each one gets its answer, and none is sent twice. It is
    /// shorter than ``DeliveryTimes/relayDrainTimeout``, so that the handlers, and not the server, report each push's outcome.
    var timeToFinish = PushServices.requestTimeout + .seconds(5)

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let pushServices {
                group.addTask {
                    try await gracefulShutdown()
                    let timeToBegin = max(.zero, timeToFinish - PushServices.requestTimeout)
                    try await Task.sleep(for: timeToBegin)
                    pushServices.stopSending()
                    try await Task.sleep(for: timeToFinish - timeToBegin)
                    await pushServices.close()
                }
            }
            // Without waiting commands it ends earlier.
            try await server.run()
            group.cancelAll()
        }
    }
}

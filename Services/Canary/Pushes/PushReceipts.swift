import Logging
import Schemas
import ServiceLifecycle

/// Reports messages that arrived by push, as a phone does. Only without FCM: then the subscription is the canary's phone.
struct PushReceipts: Service {
    let hub: any PushHub
    let arrivals: AsyncStream<ObjectID>
    let logger: Logger

    func run() async throws {
        let installation = ObjectID()
        var (number, waiting) = (Int64(0), [ObjectID]())
        for await msiKey in arrivals.cancelOnGracefulShutdown() {
            waiting = (waiting + [msiKey]).suffix(AddReceipts.maxMessages)
            number += 1
            do {
                try await hub.report(AddReceipts(installation: installation, report: number, received: waiting, opened: []))
                waiting = []
            } catch {
                // They are reported with the next one.
                logger.debug("a message was not reported", metadata: ["reason": "\(error)"])
            }
        }
    }
}

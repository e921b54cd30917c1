import FoundationEssentials
package import Logging
import ServiceLifecycle

/// Answers commands at one endpoint.
///
/// It listens from the moment that it is made, and answers while ``run()`` runs. A graceful shutdown refuses new requests,
/// finishes and answers what was accepted, and closes.
package final class CommandServer: Service, Sendable {
    private let bus: Bus
    private let socket: ServerSocket
    private let accepted: AsyncStream<[AcceptedRequest]>
    private let dispatcher: RequestDispatcher

    /// How many of the requests that arrived together one task begins.
    private static let requestsPerTask = 16

    /// Where the server listens, with the port that the system chose.
    package let endpoint: String

    /// Begins to listen.
    ///
    /// - Parameter endpoint: `ipc://<path>` of at most 107 bytes, or `tcp://<interface>:<port>`; port 0 lets the system
    ///   choose. The folder of a path is made where it is missing; the socket is for this user alone.
    /// - Throws: ``BusError`` where the endpoint is not one, somebody else serves it, or the system refuses.
    package init(
        bus: Bus, endpoint: String, router: CommandRouter, limits: ServerLimits = .init(), logger: Logger
    ) throws(BusError) {
        let (accepted, continuation) = AsyncStream.makeStream(of: [AcceptedRequest].self)
        socket = try ServerSocket(
            context: bus.context, endpoint: endpoint, limits: limits, logger: logger, accepted: continuation)
        self.bus = bus
        self.accepted = accepted
        self.endpoint = socket.endpoint
        dispatcher = RequestDispatcher(router: router, maxReplyBytes: limits.maxReplyBytes, logger: logger)
        try bus.attach(socket)
    }

    deinit {
        bus.abandon(socket)
    }

    /// Answers commands until the service group shuts down or the task is cancelled. Call it once.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await self.handleRequests()
                    _ = self.bus.submit(.stopHandling(self.socket))
                }
                await self.drained()
                group.cancelAll()
            }
        } onCancelOrGracefulShutdown: {
            _ = self.bus.submit(.stopServing(self.socket))
        }
        await close()
    }

    /// Closes at once; what was accepted and not answered is `unavailable`. ``run()`` does it at its end, and so does
    /// closing the bus.
    package func close() async {
        await bus.detach(socket)
    }

    private func handleRequests() async {
        await withDiscardingTaskGroup { group in
            for await batch in accepted {
                for start in stride(from: 0, to: batch.count, by: Self.requestsPerTask) {
                    let part = batch[start..<min(start + Self.requestsPerTask, batch.count)]
                    group.addTask { await self.handle(part) }
                }
            }
        }
    }

    /// Begins each request in turn on this task's thread; those that wait for something go on by themselves.
    private func handle(_ requests: ArraySlice<AcceptedRequest>) async {
        await withDiscardingTaskGroup { group in
            for request in requests {
                group.addImmediateTask {
                    request.reply = await self.dispatcher.answer(header: request.header, payload: request.payload)
                    // A bus that is closed has closed the server's connections.
                    _ = self.bus.submit(.reply(self.socket, request))
                }
            }
        }
    }

    private func drained() async {
        await withCheckedContinuation { continuation in
            if !bus.submit(.whenDrained(socket, continuation)) { continuation.resume() }
        }
    }
}

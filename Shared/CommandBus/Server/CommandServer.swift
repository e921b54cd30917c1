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
    private let dispatcher: RequestDispatcher

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
        socket = try ServerSocket(bus: bus, endpoint: endpoint, limits: limits, logger: logger)
        self.bus = bus
        self.endpoint = socket.endpoint
        dispatcher = RequestDispatcher(
            router: router, watch: bus.executor.watch, maxReplyBytes: limits.maxReplyBytes, logger: logger)
        try bus.attach(socket)
    }

    deinit {
        bus.abandon(socket)
    }

    /// Answers commands until the service group shuts down or the task is cancelled. Call it once.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: self.bus.executor) { await self.handleRequests() }
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

    /// Makes workers as they are needed, until the server stops. On the bus thread.
    private func handleRequests() async {
        await withDiscardingTaskGroup { group in
            while let worker = await socket.nextWorker() {
                // Not an immediate one, of which the runtime does not know where it begins: it would not leave the bus thread.
                group.addTask { await self.handleRequests(of: worker) }
            }
        }
    }

    private func handleRequests(of worker: Worker) async {
        while let request = await socket.nextRequest(for: worker) {
            let now = bus.executor.now.monotonic
            socket.answer(worker, await dispatcher.answer(request, now: now))
        }
    }

    private func drained() async {
        await withCheckedContinuation { continuation in
            if !bus.submit(.whenDrained(socket, continuation)) { continuation.resume() }
        }
    }
}

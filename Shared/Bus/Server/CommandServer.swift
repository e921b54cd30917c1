import FoundationEssentials
package import Logging
import ServiceLifecycle

/// Answers commands at one endpoint.
///
/// It listens from its creation on, and answers while ``run()`` runs. A graceful shutdown refuses new requests, finishes and
/// answers the accepted ones, and closes.
package final class CommandServer: Service, Sendable {
    private let bus: Bus
    private let socket: ServerSocket
    let dispatcher: RequestDispatcher

    /// The server's endpoint, with the port that the system chose.
    package let endpoint: String

    /// Starts listening.
    ///
    /// - Parameter endpoint: `ipc://<path>` of at most 107 bytes, or `tcp://<interface>:<port>`. Port 0 lets the system choose.
    ///   The path's folder is created if it is missing. Only this user can use the socket.
    /// - Throws: ``BusError`` if the endpoint is invalid, another process serves it, or the system refuses.
    package init(
        bus: Bus, endpoint: String, router: CommandRouter, limits: ServerLimits = .init(), logger: Logger
    ) throws(BusError) {
        socket = try ServerSocket(bus: bus, endpoint: endpoint, limits: limits, logger: logger)
        self.bus = bus
        self.endpoint = socket.endpoint
        dispatcher = RequestDispatcher(
            router: router, watch: bus.executor.watch, refusals: socket.refusals,
            maxReplyBytes: limits.maxReplyBytes, logger: logger)
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

    /// Closes at once. Unanswered requests get `unavailable`. ``run()`` calls it at its end, and closing the bus does the same.
    package func close() async {
        await bus.detach(socket)
    }

    /// Starts workers on demand until the server stops. Runs on the bus thread.
    private func handleRequests() async {
        await withDiscardingTaskGroup { group in
            while let worker = await socket.nextWorker() {
                // Not an immediate task: the runtime does not know its executor, so it would never leave the bus thread.
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

/// A server's limits and timeouts.
package struct ServerLimits: Sendable {
    /// The maximum number of accepted and unanswered requests. Further ones get `overloaded`.
    package var maxInFlight = 1_024
    /// The maximum header in bytes; a larger one is `invalid`.
    package var maxHeaderBytes = 8 << 10
    /// The maximum payload of a request in bytes; a larger one is `invalid`. A peer that sends a frame of sixteen times this size
    /// is disconnected, to protect the memory.
    package var maxPayloadBytes = 1 << 20
    /// The maximum payload of a reply in bytes. A larger one becomes `internal`.
    package var maxReplyBytes = 16 << 20
    /// How long a stopping server waits for its handlers. Requests that are unanswered after that get `unavailable`.
    package var drainTimeout = Duration.seconds(10)
    /// How long a client that sends heartbeats may be silent before its connection counts as lost.
    package var silence = BusTimes.silence

    package init() {}
}

package import FoundationEssentials
import JSON
package import Logging
package import Schemas
import ServiceContextModule
import Synchronization
import Time

/// Sends commands to a service: to one endpoint, or to the least busy of several instances.
///
/// It connects and reconnects by itself. Every request ends: with a reply, at its deadline, or with `unavailable` if there is no
/// connection, the connection is lost, or the client or the bus is closed.
package final class CommandClient: Sendable {
    private let bus: Bus
    private let sockets: ClientSockets
    private let watch: EndpointWatch.ID
    private let ids = RequestIDFormat()
    private let lastID = Atomic<UInt64>(0)
    private let maxPayloadBytes: Int

    /// - Parameters:
    ///   - endpoints: `ipc://<path>` or `tcp://<host>:<port>`; at least one. A `*` in the file name of a path stands for all
    ///     instances of a service. They may come and go.
    ///   - name: The service in the texts of failures, such as "the cube service", if their readers must not see the endpoints.
    /// - Throws: ``BusError`` if an endpoint is invalid or the bus is closed. An unreachable service is no error.
    package init(
        bus: Bus, endpoints: [String], named name: String? = nil, limits: ClientLimits = .init(), logger: Logger
    ) throws(BusError) {
        let endpoints = try ClientEndpoints(endpoints)
        let instances = EndpointWatch.instances(of: endpoints)
        self.bus = bus
        maxPayloadBytes = limits.maxPayloadBytes
        sockets = try ClientSockets(
            bus: bus, endpoints: endpoints, instances: instances, name: name, limits: limits, ids: ids, logger: logger)
        watch = try bus.attach(sockets, watching: endpoints, known: instances)
    }

    deinit {
        bus.watch.remove(watch)
        bus.abandon(sockets)
    }

    /// Sends a command and returns its reply.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait. The service gets it too, and does not begin a request after it.
    ///   - context: The actor, the address, the credential and the trace of the request.
    /// - Throws: The service's failure, or one of the bus: `unavailable` (the message says whether the request may have been
    ///   done), `deadline_exceeded`, `overloaded`, `invalid` for a payload that is too large, `internal` for a malformed
    ///   reply. A cancelled task gets `unavailable`, "cancelled".
    nonisolated(nonsending) package func request<C: Command>(
        _ command: C, timeout: Duration = BusTimes.requestTimeout, context: RequestContext = .init()
    ) async throws(CommandFailure) -> C.Reply {
        let payload: Data
        do {
            payload = try command.payload()
        } catch {
            throw CommandFailure(.internal, "\(C.name): the command cannot be written as JSON")
        }
        let reply = try await request(C.name, payload: payload, timeout: timeout, context: context)
        do {
            return try C.reply(payload: reply)
        } catch {
            throw CommandFailure(.internal, "the reply to \(C.name) is not understood: \(String("\(error)".prefix(300)))")
        }
    }

    /// Sends a command that is JSON already, and returns the reply as JSON.
    nonisolated(nonsending) package func request(
        _ name: String, payload: Data, timeout: Duration = BusTimes.requestTimeout, context: RequestContext = .init()
    ) async throws(CommandFailure) -> Data {
        guard payload.count <= maxPayloadBytes else {
            throw CommandFailure(
                .invalid, "the payload of \(name) has \(payload.count) bytes, at most \(maxPayloadBytes) are allowed")
        }
        switch await outcome(of: pending(name, payload, timeout, context)) {
        case .replied(.ok, let reply): return reply
        case .replied(let status, let payload): throw Self.failure(status, payload, of: name)
        case .failed(let failure): throw failure
        }
    }

    /// Closes the connections. Pending requests fail with `unavailable`. Closing the bus does the same.
    package func close() async {
        bus.watch.remove(watch)
        await bus.detach(sockets)
    }

    private func pending(
        _ name: String, _ payload: Data, _ timeout: Duration, _ context: RequestContext
    ) -> PendingRequest {
        let timeout = Milliseconds(timeout: timeout)
        let isLocal = bus.executor.isCurrent
        let now = bus.executor.now
        let id = RequestIDFormat.bounded(lastID.wrappingAdd(1, ordering: .relaxed).newValue)
        let traceparent = context.traceparent ?? ServiceContext.current?.traceparent
        let header = RequestHeader(
            id: ids.text(id), command: name, timeout: timeout, deadline: now.wall + timeout,
            traceparent: traceparent?.description, actor: context.actor, address: context.address,
            credential: context.credential)
        return PendingRequest(
            id: id, header: header, payload: payload, deadline: now.monotonic + timeout, isLocal: isLocal)
    }

    /// Sends a request and waits for its end.
    ///
    /// A task of the bus thread waits in two steps. First it waits briefly, without a cancellation handler; nearly all replies
    /// arrive then. Only after that it waits with a handler. Setting up and leaving the handler costs a tenth of the rest.
    @inline(__always)
    nonisolated(nonsending) private func outcome(of request: PendingRequest) async -> RequestOutcome {
        guard bus.executor.isCurrent, !Task.isCancelled else {
            return await outcome(of: request) { submit(request) }
        }
        let quick = await withUnsafeContinuation { continuation in
            request.waitBriefly(with: continuation)
            sockets.perform(request, waitsBriefly: true, now: bus.executor.lastReading.monotonic)
        }
        if let quick { return quick }
        return await outcome(of: request) {}
    }

    private func submit(_ request: PendingRequest) {
        // Checked here and not earlier: the task may have moved to another thread.
        if bus.executor.isCurrent {
            sockets.perform(request, now: bus.executor.lastReading.monotonic)
        } else if !bus.submit(.request(sockets, request)) {
            request.complete(.failed(CommandFailure(.unavailable, CommandFailure.closedMessage)))
        }
    }

    @inline(never)
    nonisolated(nonsending) private func outcome(
        of request: PendingRequest, whenWaiting send: () -> Void
    ) async -> RequestOutcome {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                request.wait(with: continuation)
                send()
            }
        } onCancel: {
            request.isCancelled.store(true, ordering: .releasing)
            // A closed bus has failed the request already.
            _ = bus.submit(.cancel(sockets, request))
        }
    }

    private static func failure(_ status: ReplyStatus, _ payload: Data, of name: String) -> CommandFailure {
        do {
            let failure = try JSONCoder.decode(CommandFailure.Payload.self, from: payload)
            return CommandFailure(status, failure.message, field: failure.field, retryAfter: failure.retryAfter)
        } catch {
            return CommandFailure(status, "\(name) failed, and the reason is not understood")
        }
    }
}

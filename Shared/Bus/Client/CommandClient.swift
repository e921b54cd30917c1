package import FoundationEssentials
import Base
package import Logging
package import Schemas
import ServiceContextModule
import Synchronization

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
    private let requestTimeout: Duration

    /// - Parameters:
    ///   - endpoints: `ipc://<path>` or `tcp://<host>:<port>`; at least one. A `*` in the file name of a path stands for all
    ///     instances of a service. They may come and go.
    ///   - name: The service in the texts of failures, such as "the cube service", if their readers must not see the endpoints.
    /// - Throws: ``BusError`` if an endpoint is invalid or the bus is closed. An unreachable service is not an error.
    package init(
        bus: Bus, endpoints: [String], named name: String? = nil, limits: ClientLimits = .init(), logger: Logger
    ) throws(BusError) {
        let endpoints = try ClientEndpoints(endpoints)
        let instances = EndpointWatch.instances(of: endpoints)
        self.bus = bus
        maxPayloadBytes = limits.maxPayloadBytes
        requestTimeout = limits.requestTimeout
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
    ///   - timeout: How long to wait; by default ``ClientLimits/requestTimeout``. The service gets it too, and does not begin a
    ///     request after it.
    ///   - context: The actor, the address, the credential and the trace of the request.
    /// - Throws: The service's failure, or one of the bus: `unavailable` (the message says whether the request may have been
    ///   done), `deadline_exceeded`, `overloaded`, `invalid` for a payload that is too large, `internal` for a malformed
    ///   reply. A cancelled task gets `unavailable`, "cancelled".
    nonisolated(nonsending) package func request<C: Command>(
        _ command: C, timeout: Duration? = nil, context: CallerContext = .init()
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
        _ name: String, payload: Data, timeout: Duration? = nil, context: CallerContext = .init()
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
        _ name: String, _ payload: Data, _ timeout: Duration?, _ context: CallerContext
    ) -> PendingRequest {
        let timeout = Milliseconds(timeout: timeout ?? requestTimeout)
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

/// A client's limits and timeouts.
package struct ClientLimits: Sendable {
    /// The maximum number of requests, outstanding and waiting together. Further ones fail with `overloaded`.
    package var maxPending = 10_000
    /// The maximum payload of a request in bytes; a larger one fails with `invalid`. The default is what services
    /// accept by default.
    package var maxPayloadBytes = 1 << 20
    /// The maximum frame of a reply in bytes. A service that sends more is disconnected.
    package var maxReplyBytes = 64 << 20
    /// How long a request waits for its reply, if the caller does not say it.
    package var requestTimeout = BusTimes.requestTimeout
    /// How long a request waits for a connection before it fails with `unavailable`.
    package var connectGrace = Duration.seconds(1)
    /// The interval between probes of a silent endpoint.
    package var probeInterval = Duration.seconds(1)
    /// How long a connection may be silent before it counts as lost. A third of this is the interval of heartbeats.
    package var silence = BusTimes.silence

    package init() {}
}

/// The actor, the address, the credential and the trace of a request.
package struct CallerContext: Hashable, Sendable {
    /// The caller's account name; `nil` if a program makes the request for itself.
    package var actor: String?
    /// The network address of the caller's client, 1 to 64 characters; `nil` if it is unknown.
    package var address: String?
    /// The caller's sign-in or token; `nil` if the command does not check it.
    package var credential: CredentialHash?
    /// The trace that the request belongs to; `nil` for the current task's trace.
    package var traceparent: Traceparent?

    package init(
        actor: String? = nil, address: String? = nil, credential: CredentialHash? = nil, traceparent: Traceparent? = nil
    ) {
        self.actor = actor
        self.address = address
        self.credential = credential
        self.traceparent = traceparent
    }
}

extension CommandFailure {
    /// The failure of a request that no service answered.
    ///
    /// - Parameters:
    ///   - endpoints: As in the settings.
    ///   - name: Stands for the endpoints in the text; `nil` to show them.
    ///   - problem: Why there is no connection, if that is known.
    ///   - endpoint: The endpoint with a number in the pool.
    init<Request>(
        _ failure: ClientPoolStateMachine<Request>.Failure, endpoints: [String], name: String? = nil,
        problem: ConnectionProblem? = nil, _ endpoint: (Int) -> String
    ) {
        let service = name ?? Self.list(endpoints)
        switch failure {
        case .overloaded:
            self.init(.overloaded, "too many requests are under way to \(service); the command was not sent")
        case .notConnected:
            let reason = name == nil ? problem.map { " (\($0))" } ?? "" : ""
            self.init(.unavailable, "\(Self.noConnection)\(service)\(reason); the command was not sent")
        case .connectionLost(let number):
            self.init(.unavailable, "connection lost to \(name ?? endpoint(number)), outcome unknown")
        case .deadlineExceeded:
            self.init(.deadlineExceeded, "no reply from \(service) in time, outcome unknown")
        case .cancelled:
            self.init(.unavailable, "cancelled")
        case .stopped:
            self.init(.unavailable, Self.closedMessage)
        }
    }

    private static let noConnection = "no connection to "

    /// Whether the client had no connection. Otherwise a service has answered, or its answer is missing.
    package var isWithoutConnection: Bool { status == .unavailable && message.hasPrefix(Self.noConnection) }

    /// The bus, or the client, is closed.
    static let closedMessage = "the client is closed"

    private static func list(_ endpoints: [String]) -> String {
        endpoints.count <= 3
            ? endpoints.joined(separator: ", ") : "\(endpoints[0]) and \(endpoints.count - 1) others"
    }
}

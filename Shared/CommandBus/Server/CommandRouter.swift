package import FoundationEssentials
package import Schemas

/// Which handler answers which command. Every router answers `bus.ping` and `bus.health` by itself. No order is promised.
package struct CommandRouter: Sendable {
    /// Where a handler runs, with its child tasks.
    package enum Placement: Sendable {
        /// On the threads of Swift concurrency.
        case shared
        /// On the bus thread, which costs least: for handlers that compute for some microseconds only, because all requests of
        /// the process wait meanwhile. They use no actor that other tasks use, since whoever begins an actor's work does what
        /// others have for it as well. Where the payload is so large that reading it takes longer, they run on the threads of
        /// Swift concurrency.
        case busThread
    }

    struct Handler: Sendable {
        typealias Body = nonisolated(nonsending) @Sendable (Data, CommandContext) async throws -> Data

        let placement: Placement
        let body: Body
    }

    private var handlers: [String: Handler] = [:]

    /// - Parameters:
    ///   - checkHealth: Throws what keeps the service from its work now.
    ///   - parts: The state of what the service depends on, by name. It must return within a second or so, also when a part does
    ///     not answer.
    package init(
        checkHealth: @escaping @Sendable () async throws -> Void = {},
        parts: @escaping @Sendable () async -> [String: PartHealth] = { [:] }
    ) {
        on(Ping.self, runs: .busThread) { _, _ in Done() }
        on(CheckHealth.self) { _, _ in
            async let states = parts()
            try await checkHealth()
            return ServiceHealth(parts: await states)
        }
    }

    /// Answers a command.
    ///
    /// - Parameters:
    ///   - placement: Where the handler runs, and where the command is read and its reply written.
    ///   - handler: May throw `CommandFailure`, which the client gets as it is, and `SchemaViolation`, which becomes `invalid`;
    ///     any other error is logged and becomes `internal`. Its task is cancelled when the server stops and has waited long
    ///     enough.
    package mutating func on<C: Command>(
        _ type: C.Type, runs placement: Placement = .shared,
        _ handler: nonisolated(nonsending) @escaping @Sendable (C, CommandContext) async throws -> C.Reply
    ) {
        on(C.name, runs: placement) { payload, context in
            try C.payload(of: await handler(C(payload: payload), context))
        }
    }

    /// Answers a command whose payload and reply stay bytes. The handler checks that the payload is what it expects.
    package mutating func on(
        _ name: String, runs placement: Placement = .shared,
        _ handler: nonisolated(nonsending) @escaping @Sendable (Data, CommandContext) async throws -> Data
    ) {
        precondition(handlers[name] == nil, "two handlers for \(name)")
        handlers[name] = Handler(placement: placement, body: handler)
    }

    subscript(name: String) -> Handler? { handlers[name] }
}

extension CommandRouter.Handler {
    /// The largest payload in bytes that is read on the bus thread.
    private static let maxOnBusThread = 16 << 10

    @inline(__always)
    nonisolated(nonsending) func callAsFunction(_ payload: Data, _ context: CommandContext) async throws -> Data {
        if placement == .busThread, payload.count <= Self.maxOnBusThread { return try await body(payload, context) }
        return try await onSharedThreads {
            // The way to those threads may have taken a while.
            try context.checkStillWanted()
            return try await body(payload, context)
        }
    }
}

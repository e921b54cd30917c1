package import FoundationEssentials
package import Schemas

/// Which handler answers which command. Every router answers `bus.ping` and `bus.health` by itself.
///
/// Of the requests that arrive together several may begin on one thread, each running until it first waits for something: a
/// handler that computes for milliseconds does that on a thread of its own. No order is promised.
package struct CommandRouter: Sendable {
    typealias Handler = nonisolated(nonsending) @Sendable (Data, CommandContext) async throws -> Data

    private var handlers: [String: Handler] = [:]

    /// - Parameter checkHealth: Throws what keeps the service from its work now.
    package init(checkHealth: @escaping @Sendable () async throws -> Void = {}) {
        on(Ping.self) { _, _ in Done() }
        on(CheckHealth.self) { _, _ in
            try await checkHealth()
            return Done()
        }
    }

    /// Answers a command.
    ///
    /// - Parameter handler: May throw `CommandFailure`, which the client gets as it is, and `SchemaViolation`, which
    ///   becomes `invalid`; any other error is logged and becomes `internal`. Its task is cancelled when the server stops
    ///   and has waited long enough.
    package mutating func on<C: Command>(
        _ type: C.Type, _ handler: nonisolated(nonsending) @escaping @Sendable (C, CommandContext) async throws -> C.Reply
    ) {
        on(C.name) { payload, context in
            try C.payload(of: await handler(C(payload: payload), context))
        }
    }

    /// Answers a command whose payload and reply stay bytes. The handler checks that the payload is what it expects.
    package mutating func on(
        _ name: String, _ handler: nonisolated(nonsending) @escaping @Sendable (Data, CommandContext) async throws -> Data
    ) {
        precondition(handlers[name] == nil, "two handlers for \(name)")
        handlers[name] = handler
    }

    subscript(name: String) -> Handler? { handlers[name] }
}

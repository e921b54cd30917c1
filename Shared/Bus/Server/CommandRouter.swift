import CoreMetrics
package import FoundationEssentials
import Instruments
import Base
package import Schemas
package import Synchronization

/// The handlers by command. Every router answers `bus.ping` and `bus.health` by itself. Requests are handled in no defined order.
package struct CommandRouter: Sendable {
    /// Where a handler runs, with its child tasks.
    package enum Placement: Sendable {
        /// On Swift's global executor.
        case shared
        /// On the bus thread, which is cheapest. The handler delays all requests of the process, so it may compute only for
        /// microseconds. It must not use an actor that other tasks use, because the thread that enters an actor also runs its
        /// queued jobs. A request with a large payload runs on the global executor instead.
        case busThread
    }

    struct Handler: Sendable {
        typealias Body = nonisolated(nonsending) @Sendable (Data, CommandContext) async throws -> Data

        /// The command; `nil` for one that only a test has.
        let command: (any Command.Type)?
        let placement: Placement
        let body: Body
        let instruments: CommandInstruments?
    }

    private(set) var handlers: [String: Handler] = [:]

    /// What this process says about itself in each reply to `bus.health`; `nil` for nothing.
    package static let report = Mutex<(@Sendable () -> ServiceReport)?>(nil)

    /// - Parameters:
    ///   - stores: The stores without which the service cannot do its work. `bus.health` fails if one cannot be read, and has the part
    ///     ``ServiceHealth/store`` if one takes no writes.
    ///   - parts: The state of the service's dependencies, by name. It must return within about a second, even if a
    ///     dependency does not answer.
    package init(
        stores: [any CheckedStore] = [],
        parts: @escaping @Sendable () async -> [String: PartHealth] = { [:] }
    ) {
        on(Ping.self, runs: .busThread) { _, _ in Done() }
        on(CheckHealth.self) { _, _ in
            async let states = parts()
            var found: [String: PartHealth] = [:]
            for store in stores { found.merge(try await store.parts()) { first, _ in first } }
            return ServiceHealth(
                version: productVersion, parts: await states.merging(found) { $1 }, report: Self.report.withLock(\.self)?())
        }
    }

    /// Registers the handler of a command.
    ///
    /// - Parameters:
    ///   - placement: Where the handler runs, and where its command is decoded and its reply encoded.
    ///   - handler: May throw `CommandFailure`, which the client gets unchanged, and `SchemaViolation`, which becomes
    ///     `invalid`. Any other error is logged and becomes `internal`. Its task is cancelled at the end of the drain timeout
    ///     when the server stops.
    package mutating func on<C: Command>(
        _ type: C.Type, runs placement: Placement = .shared,
        _ handler: nonisolated(nonsending) @escaping @Sendable (C, CommandContext) async throws -> C.Reply
    ) {
        on(C.name, of: C.self, runs: placement) { payload, context in
            try C.payload(of: await handler(C(payload: payload), context))
        }
    }

    /// Registers the handler of a command whose payload and reply stay bytes. The handler validates the payload.
    package mutating func on(
        _ name: String, of command: (any Command.Type)? = nil, runs placement: Placement = .shared,
        _ handler: nonisolated(nonsending) @escaping @Sendable (Data, CommandContext) async throws -> Data
    ) {
        precondition(handlers[name] == nil, "two handlers for \(name)")
        handlers[name] = Handler(
            command: command, placement: placement, body: handler, instruments: CommandInstruments(name))
    }

    subscript(name: String) -> Handler? { handlers[name] }
}

extension CommandRouter.Handler {
    /// The maximum payload in bytes that is decoded on the bus thread.
    private static let maxOnBusThread = 16 << 10

    @inline(__always)
    nonisolated(nonsending) func callAsFunction(_ payload: Data, _ context: CommandContext) async throws -> Data {
        if placement == .busThread, payload.count <= Self.maxOnBusThread { return try await body(payload, context) }
        return try await onSharedThreads {
            // The switch to the global executor may have taken a while.
            try context.checkStillWanted()
            return try await body(payload, context)
        }
    }
}

/// Counts the answers to one command, and measures their durations.
struct CommandInstruments: Sendable {
    private let command: String
    private let ok: Counter
    private let duration: CoreMetrics.Timer

    /// - Returns: `nil` if the process has no port for metrics. Then no clock is read for a request.
    init?(_ command: String) {
        guard !(MetricsSystem.factory is NOOPMetricsHandler) else { return nil }
        self.command = command
        ok = Instrument.busRequests.counter(["command": command, "status": ReplyStatus.ok.rawValue])
        duration = Instrument.busRequestDuration.timer(["command": command])
    }

    /// - Parameter failure: The status of a failure; `nil` after a success.
    func record(since start: ContinuousClock.Instant, failure: ReplyStatus?) {
        duration.record(since: start)
        guard let failure else { return ok.increment() }
        // Rare, so it is made when it is needed.
        Instrument.busRequests.counter(["command": command, "status": failure.rawValue]).increment()
    }
}

/// Runs a closure on Swift's global executor. Use it on the bus thread for work that takes long or may block.
package func onSharedThreads<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async rethrows -> Value {
    try await withTaskExecutorPreference(globalConcurrentExecutor) {
        // The yield causes the switch. A closure that only calls `nonisolated(nonsending)` functions would stay on the
        // caller's executor.
        await Task.yield()
        return try await body()
    }
}

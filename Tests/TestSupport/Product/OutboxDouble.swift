package import Bus
package import Schemas
import Synchronization

/// A message log of a test that takes pushes to persons, or refuses them.
package final class OutboxDouble: Sendable {
    private struct State {
        var taken: [LogPush] = []
        var senders: Set<String> = []
        var hasContradiction = false
        var requests = 0
        var failure: CommandFailure?
        var takesBeforeFailure = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Each push once.
    package var taken: [LogPush] { state.withLock(\.taken) }

    /// Who has sent them.
    package var senders: Set<String> { state.withLock(\.senders) }

    /// Whether there was another push with a key that was used before.
    package var hasContradiction: Bool { state.withLock(\.hasContradiction) }

    /// How often pushes were sent.
    package var requests: Int { state.withLock(\.requests) }

    /// What it answers instead of taking pushes.
    package var failure: CommandFailure? {
        get { state.withLock(\.failure) }
        set { state.withLock { $0.failure = newValue } }
    }

    /// Whether it takes a push before it answers with the failure, as if the answer was lost.
    package var takesBeforeFailure: Bool {
        get { state.withLock(\.takesBeforeFailure) }
        set { state.withLock { $0.takesBeforeFailure = newValue } }
    }

    package func router() -> CommandRouter {
        var router = CommandRouter()
        router.on(LogPush.self) { [self] command, context in
            let sender = try context.requireActor()
            let failure = state.withLock { state in
                state.requests += 1
                state.senders.insert(sender)
                let known = state.taken.first { $0.idempotencyKey == command.idempotencyKey }
                if let known, known != command { state.hasContradiction = true }
                let takes = state.failure == nil || state.takesBeforeFailure
                if known == nil, takes { state.taken.append(command) }
                return state.failure
            }
            if let failure { throw failure }
            return LogPush.Reply(
                push: Push(
                    sender: sender, idempotencyKey: command.idempotencyKey, transport: .fcm, fairnessKey: command.fairnessKey,
                    message: command.message, urgency: .high, logged: .now, expires: command.expires,
                    relay: PushRecord(logged: command.recipients, due: .now)))
        }
        return router
    }

    /// Runs it at an endpoint, such as that of the message log in a test's folder.
    package func run<Result>(
        at endpoint: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            let server = try CommandServer(bus: bus, endpoint: endpoint, router: router(), logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }
}

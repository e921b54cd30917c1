import Bus
import Schemas
import Synchronization
import Testing

/// A message log of a test that takes pushes to persons, or refuses them.
final class MessageLogDouble: Sendable {
    private struct State {
        var taken: [LogPush] = []
        var requests = 0
        var failure: CommandFailure?
        var takesBeforeFailure = false
    }

    private let state = Mutex(State())

    /// Each push once.
    var taken: [LogPush] { state.withLock(\.taken) }

    /// How often pushes were sent.
    var requests: Int { state.withLock(\.requests) }

    /// What it answers instead of taking pushes.
    var failure: CommandFailure? {
        get { state.withLock(\.failure) }
        set { state.withLock { $0.failure = newValue } }
    }

    /// Whether it takes a push before it answers with the failure, as if the answer was lost.
    var takesBeforeFailure: Bool {
        get { state.withLock(\.takesBeforeFailure) }
        set { state.withLock { $0.takesBeforeFailure = newValue } }
    }

    func router() -> CommandRouter {
        var router = CommandRouter()
        router.on(LogPush.self) { [self] command, context in
            #expect(context.actor == "people")
            let (failure, isOther) = state.withLock { state in
                state.requests += 1
                let known = state.taken.first { $0.idempotencyKey == command.idempotencyKey }
                let takes = state.failure == nil || state.takesBeforeFailure
                if known == nil, takes { state.taken.append(command) }
                return (state.failure, known.map { $0 != command } ?? false)
            }
            #expect(!isOther, "another push with the same key")
            if let failure { throw failure }
            return LogPush.Reply(
                push: Push(
                    sender: "people", idempotencyKey: command.idempotencyKey, transport: .fcm, fairnessKey: command.fairnessKey,
                    message: command.message, urgency: .high, logged: .now, expires: command.expires,
                    relay: PushRecord(logged: command.recipients, due: .now)))
        }
        return router
    }
}

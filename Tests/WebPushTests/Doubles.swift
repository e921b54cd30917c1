import Bus
import Base
import Schemas
import Store
import Synchronization
import TestSupport
import WebPushStore

@testable import WebPush

/// Push services that take everything, or answer as they are told.
final class SenderDouble: PushSender {
    typealias Answer = @Sendable (WebPushRequest) -> Result<String, WebPushFailure>

    private struct State {
        var requests: [WebPushRequest] = []
        var answer: Answer = { .success("https://push.example/m/\($0.url.suffix(8))") }
    }

    private let state = Mutex(State())

    /// The requests so far.
    var requests: [WebPushRequest] { state.withLock(\.requests) }

    func answer(_ answer: @escaping Answer) { state.withLock { $0.answer = answer } }

    func send(_ requests: [WebPushRequest], by deadline: ContinuousClock.Instant) async -> [Result<String, WebPushFailure>] {
        let answer = state.withLock { state in
            state.requests += requests
            return state.answer
        }
        return requests.map(answer)
    }
}

/// A message log that stores pushes by their idempotency keys, or fails.
final class MessageLogDouble: Sendable {
    /// What happens to a command.
    enum Fate: Sendable {
        case stored
        /// It is stored, and the answer is lost.
        case lost
        case refused(CommandFailure)
    }

    private struct State {
        var pushes: [String: LogPush] = [:]
        var commands = 0
        var fate: @Sendable (_ command: Int) -> Fate = { _ in .stored }
    }

    private let state = Mutex(State())

    /// The stored pushes, by their idempotency keys.
    var pushes: [String: LogPush] { state.withLock(\.pushes) }
    /// The subscriptions in all of them.
    var subscriptions: [ObjectID] { pushes.values.flatMap { $0.tokens ?? [] }.compactMap { ObjectID($0) } }
    /// The number of commands so far.
    var commands: Int { state.withLock(\.commands) }

    /// - Parameter fate: Gets the number of the command, from 1.
    func decide(_ fate: @escaping @Sendable (_ command: Int) -> Fate) {
        state.withLock { state in
            state.fate = fate
            state.commands = 0
        }
    }

    func router() -> CommandRouter {
        var router = CommandRouter()
        router.on(LogPush.self) { [self] command, context in
            let fate = state.withLock { state in
                state.commands += 1
                return state.fate(state.commands)
            }
            if case .refused(let failure) = fate { throw failure }
            guard context.actor == "webpush" else { throw CommandFailure(.unauthenticated, "no actor") }
            let known = state.withLock { state in
                let known = state.pushes[command.idempotencyKey]
                if known == nil { state.pushes[command.idempotencyKey] = command }
                return known
            }
            if let known, known != command { throw CommandFailure(.conflict, "another push", field: "idempotency_key") }
            if case .lost = fate { throw CommandFailure(.unavailable, "connection lost, outcome unknown") }
            return LogPush.Reply(
                push: Push(
                    sender: "webpush", idempotencyKey: command.idempotencyKey, transport: .webpush,
                    fairnessKey: command.fairnessKey,
                    message: command.message, urgency: .high, logged: .now, expires: command.expires,
                    relay: PushRecord(logged: command.recipients, due: .now)))
        }
        return router
    }
}

/// A store in a temporary folder or in a new database.
func withWebPushStore(
    _ kind: StoreKind = .sqlite, _ body: @Sendable (_ store: Storage, _ folder: String) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
        let store = try await Storage.open(
            WebPushStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger)
        try await perform {
            try await body(store, folder)
        } finally: {
            try await store.close()
        }
    }
}

extension TopicKey {
    static func new() -> TopicKey { TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
}

/// The status of the failure of a body; `nil` if it does not fail.
func status(_ body: () async throws -> Void) async -> ReplyStatus? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? CommandFailure)?.status ?? (error is SchemaViolation ? .invalid : .internal)
    }
}

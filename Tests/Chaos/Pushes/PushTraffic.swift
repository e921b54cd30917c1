import Bus
import Schemas
import Synchronization
import TestSupport
import Base

/// Programs that log pushes over the bus at a constant rate. Each push is repeated with its idempotency key until it is answered.
final class PushTraffic: Sendable {
    private struct State {
        var accepted: [Push] = []
        var surprises: [String] = []
        var isOver = false
    }

    private static let caller = CallerContext(actor: "chaos")
    /// The maximum number of recorded surprises.
    private static let maxSurprises = 100

    private let client: CommandClient
    private let mix: PushMix
    private let retryTimeout: Duration
    private let state = Mutex(State())

    /// - Parameter retryTimeout: How long a push without an answer is repeated.
    init(client: CommandClient, mix: PushMix, retryTimeout: Duration) {
        self.client = client
        self.mix = mix
        self.retryTimeout = retryTimeout
    }

    /// The accepted pushes, from the message log's answers.
    var accepted: [Push] { state.withLock(\.accepted) }
    /// The first unexpected answers.
    var surprises: [String] { state.withLock(\.surprises) }

    /// Ends the traffic once the pending pushes are answered.
    func stop() {
        state.withLock { $0.isOver = true }
    }

    /// Logs pushes until it is stopped.
    ///
    /// - Parameter period: The time between two pushes of one program.
    func run(clients: Int, every period: Duration) async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<clients { group.addTask { try await self.log(as: number, every: period) } }
            for try await _ in group {}
        }
    }

    private func log(as number: Int, every period: Duration) async throws {
        var due = ContinuousClock.now
        var count = 0
        while !state.withLock(\.isOver) {
            try await logUntilAnswered(mix.push(client: number, number: count))
            count += 1
            due = max(due + period, .now)
            try await sleep(until: due, unless: { state.withLock(\.isOver) })
        }
    }

    private func logUntilAnswered(_ command: LogPush) async throws {
        var backoff = Backoff.ofCallers(for: retryTimeout)
        while true {
            do throws(CommandFailure) {
                let push = try await client.request(command, context: Self.caller).push
                return state.withLock { $0.accepted.append(push) }
            } catch {
                guard [.unavailable, .overloaded, .deadlineExceeded, .storageFull].contains(error.status) else {
                    return surprised("\(command.idempotencyKey) was answered \(error)")
                }
            }
            guard let pause = backoff.nextPause() else { throw TooLate("\(command.idempotencyKey) was not answered") }
            try await Task.sleep(for: pause)
        }
    }

    private func surprised(_ text: String) {
        state.withLock { if $0.surprises.count < Self.maxSurprises { $0.surprises.append(text) } }
    }

    /// Waits until each accepted push has ended, one is overdue, or the time is over.
    ///
    /// - Parameters:
    ///   - maxOverdue: How long a push may be overdue. A push that cannot be read counts as due.
    ///   - limit: The maximum wait.
    /// - Returns: The stored pushes.
    func settled(maxOverdue: Duration, within limit: Duration) async throws -> [ObjectID: Push] {
        var stored: [ObjectID: Push] = [:]
        var open = Set(accepted.map(\.id))
        var due = DueTimes<ObjectID>()
        let deadline = ContinuousClock.now + limit
        while true {
            for id in open {
                if let push = try? await client.request(GetPush(pushID: id), context: Self.caller) { stored[id] = push }
                let relay = stored[id]?.relay
                if let relay, relay.nextAttempt == nil { open.remove(id) }
                due.note(id, due: max(relay?.nextAttempt?.rawValue ?? 0, relay?.lease?.until.rawValue ?? 0))
            }
            let isOverdue = open.contains { due.isOverdue($0, by: maxOverdue) }
            if open.isEmpty || isOverdue || ContinuousClock.now >= deadline { return stored }
            try await Task.sleep(for: .seconds(1))
        }
    }
}

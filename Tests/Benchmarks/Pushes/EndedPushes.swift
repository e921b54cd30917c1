import Base
import Bus
import Schemas
import Synchronization
import TestSupport

/// A follower of the message log, which notes when it hears that a push has ended.
final class EndedPushes: Sendable {
    private struct State {
        /// How the idempotency keys of the pushes begin that it notes.
        var prefix: String
        var times: [String: ContinuousClock.Instant] = [:]
        var failures: [String] = []
    }

    private let state = Mutex(State(prefix: ""))

    /// Runs a body while it follows the events at an endpoint.
    static func with<Value>(at endpoint: String, bus: Bus, _ body: (EndedPushes) async throws -> Value) async throws -> Value {
        let subscriber = try EventSubscriber(bus: bus, endpoints: [endpoint], names: [PushEnded.name], logger: quietLogger)
        let ended = EndedPushes()
        let following = Task {
            for await event in subscriber.events { ended.note(event, at: .now) }
        }
        return try await perform {
            try await body(ended)
        } finally: {
            await subscriber.close()
            await following.value
        }
    }

    /// How many of the pushes have ended.
    var count: Int { state.withLock(\.times.count) }

    /// Forgets what it has noted, and notes only pushes from now on whose idempotency keys begin with a text.
    func begin(_ prefix: String) {
        state.withLock { $0 = State(prefix: prefix) }
    }

    /// Waits until a number of the pushes have ended.
    ///
    /// - Parameter prefix: How their idempotency keys begin, if that is known only now.
    /// - Returns: When, by idempotency key.
    /// - Throws: ``PeerFailure`` if one that it has noted has not been relayed to every recipient.
    func wait(for number: Int, of prefix: String = "") async throws -> [String: ContinuousClock.Instant] {
        try await eventually("\(number) pushes have ended", within: .seconds(300), every: .milliseconds(2)) {
            state.withLock { $0.times.keys.count { $0.hasPrefix(prefix) } } >= number
        }
        return try state.withLock { state in
            guard state.failures.isEmpty else {
                throw PeerFailure(description: "pushes were not relayed: \(state.failures.prefix(3))")
            }
            return state.times.filter { $0.key.hasPrefix(prefix) }
        }
    }

    private func note(_ event: BusEvent, at time: ContinuousClock.Instant) {
        switch event {
        case .event(_, let payload, _):
            guard let push = try? JSONCoder.decode(PushEnded.self, from: payload) else { return note(failure: "unreadable") }
            state.withLock { state in
                guard push.idempotencyKey.hasPrefix(state.prefix) else { return }
                state.times[push.idempotencyKey] = state.times[push.idempotencyKey] ?? time
                if push.state != .relayed { state.failures.append("\(push.idempotencyKey) \(push.state)") }
            }
        case .missed: note(failure: "events were missed")
        case .connected, .disconnected: break
        }
    }

    private func note(failure: String) {
        state.withLock { $0.failures.append(failure) }
    }
}

import Bus
import TestSupport
import Schemas
import Base
import Synchronization

/// Sends messages to the relay as an open loop, and retries each until FCM has accepted every component. It replaces the message
/// log, with shorter pauses.
final class RetryingLoad: Sendable {
    struct Totals: Hashable, Sendable, CustomStringConvertible {
        /// Components, each counted once.
        var sent = 0
        var accepted = 0
        /// Messages that are not completely accepted.
        var open = 0
        var commands = 0
        /// Commands without an answer of the relay, by reason.
        var unanswered: [String: Int] = [:]
        /// Components that were not accepted, by reason.
        var failures: [String: Int] = [:]

        var description: String { "\(sent) components sent, \(accepted) accepted, \(commands) commands, \(open) open" }
    }

    /// The maximum number of open messages during an outage of FCM.
    private static let maxOpen = 600
    /// The timeout of a command. It is longer than the relay's maximum time.
    private static let commandTimeout = Duration.seconds(25)
    private static let pauses = 1_000...3_000
    private static let topics = 20

    private let client: CommandClient
    private let rate: Double
    private let seed: UInt64
    private let topics: [TopicKey]
    private let state = Mutex((totals: Totals(), isOver: false))

    init(client: CommandClient, rate: Double, seed: UInt64) {
        self.client = client
        self.rate = rate
        self.seed = seed
        topics = (0..<Self.topics).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
    }

    var totals: Totals { state.withLock(\.totals) }

    /// Ends the load. Open messages continue.
    func stop() {
        state.withLock { $0.isOver = true }
    }

    /// Waits until all messages are accepted or the time is over.
    func settled(within limit: Duration) async {
        // Messages that are still open are in the totals.
        try? await eventually("every message accepted", within: limit, every: .milliseconds(100)) { totals.open == 0 }
    }

    /// Sends until it is stopped, then waits until all messages are accepted. Ends early if the task is cancelled.
    func run() async {
        let begin = ContinuousClock.now
        await withDiscardingTaskGroup { group in
            var number = 0
            while !state.withLock(\.isOver), !Task.isCancelled {
                try? await Task.sleep(until: begin + .seconds(Double(number) / rate), clock: .continuous)
                number += 1
                guard totals.open < Self.maxOpen else { continue }
                let message = message(number)
                began(message)
                group.addTask { await self.relay(message) }
            }
        }
    }

    /// Sends the maximum number of open messages at once, and returns once they are accepted or the task is cancelled.
    func flood() async {
        await withDiscardingTaskGroup { group in
            for number in 0..<Self.maxOpen {
                let message = message(number, .alert)
                began(message)
                group.addTask { await self.relay(message) }
            }
        }
    }

    /// Sends one message, and returns once it is accepted or the task is cancelled.
    func sendOne() async {
        let message = message(0)
        began(message)
        await relay(message)
    }

    private func message(_ number: Int, _ given: Distribution? = nil) -> RelayMessage {
        var random = SeededGenerator(seed: seed ^ UInt64(number) << 20)
        let distribution = given ?? (Int.random(in: 0..<100, using: &random) < 40 ? .alert : .information)
        return RelayMessage(
            msiKey: ObjectID(), timestamp: .now,
            content: MessageContent(
                title: "Message \(number)", desc: "An endurance run",
                message: String(
                    repeating: "All lectures of today are cancelled. ", count: Int.random(in: 1...14, using: &random)),
                topicKey: topics[Int.random(in: topics.indices, using: &random)], distribution: distribution))
    }

    private func began(_ message: RelayMessage) {
        state.withLock { state in
            state.totals.sent += message.components.count
            state.totals.open += 1
        }
    }

    private func relay(_ message: RelayMessage) async {
        var outstanding = message.components
        while !outstanding.isEmpty, !Task.isCancelled {
            let command = RelayMessage(
                msiKey: message.msiKey, timestamp: message.timestamp, content: message.content, components: outstanding)
            do throws(CommandFailure) {
                let outcomes = try await client.request(command, timeout: Self.commandTimeout).components
                outstanding = note(outcomes)
            } catch {
                note(error)
            }
            guard !outstanding.isEmpty else { break }
            // A cancellation ends the wait without an error.
            try? await Task.sleep(for: .milliseconds(Int.random(in: Self.pauses)))
        }
        if outstanding.isEmpty { state.withLock { $0.totals.open -= 1 } }
    }

    /// - Returns: The components to retry.
    private func note(_ outcomes: [ComponentOutcome]) -> [Component] {
        state.withLock { state in
            state.totals.commands += 1
            return outcomes.compactMap { outcome in
                switch outcome.result {
                case .success:
                    state.totals.accepted += 1
                    return nil
                case .failure(let error):
                    state.totals.failures[error.code, default: 0] += 1
                    return outcome.component
                }
            }
        }
    }

    private func note(_ failure: CommandFailure) {
        state.withLock { state in
            state.totals.commands += 1
            // Answers of the relay: it has too much to do, or FCM has failed too often.
            if failure.status == .overloaded {
                state.totals.failures["overloaded", default: 0] += 1
            } else if failure.message.hasPrefix(RelayErrorCode.circuitOpen.rawValue) {
                state.totals.failures[RelayErrorCode.circuitOpen.rawValue, default: 0] += 1
            } else if !Task.isCancelled {
                state.totals.unanswered["\(failure.status.rawValue): \(failure.message)", default: 0] += 1
            }
        }
    }
}

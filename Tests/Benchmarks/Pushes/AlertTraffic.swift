import FoundationEssentials
import Base
import Bus
import Schemas
import Synchronization
import TestSupport

/// A new Alert each second, which a person waits for.
final class AlertTraffic: Sendable {
    private static let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private let log: RunningLog
    private let isOver = Mutex(false)

    init(at log: RunningLog) {
        self.log = log
    }

    /// Posts no more.
    func stop() {
        isOver.withLock { $0 = true }
    }

    /// Posts until it is stopped, and waits until the last one is relayed.
    ///
    /// - Parameter limit: The maximum number.
    /// - Returns: For each Alert the milliseconds from the command until FCM has accepted both of its sends, in no order.
    func run(atMost limit: Int = .max) async throws -> [Double] {
        try await withThrowingTaskGroup(of: Double.self) { group in
            var due = ContinuousClock.now
            var count = 0
            while count < limit, !isOver.withLock(\.self) {
                group.addTask { try await self.timeUntilRelayed() }
                count += 1
                due += .seconds(1)
                try await Task.sleep(until: due)
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func timeUntilRelayed() async throws -> Double {
        let begin = Date().timeIntervalSince1970 * 1_000
        let content = MessageContent(
            title: "Campus closed", desc: "Please stay at home",
            message: "All lectures of today are cancelled because of the storm.", topicKey: Self.topic, distribution: .alert)
        let command = LogMessage(
            msiKey: ObjectID(), content: content, timestamp: .now,
            names: CubeNames(channel: "Campus", area: "Weather", subject: "Storms"), expires: .now + 2_419_200_000)
        _ = try await log.client.request(command, context: RunningLog.caller)
        let relay = try await eventually("the Alert is relayed", every: .milliseconds(250)) {
            let relay = try await log.client.request(GetMessage(msiKey: command.msiKey)).relay
            return relay.ended == nil ? nil : relay
        }
        guard relay.state == .relayed, let ended = relay.ended else {
            throw PeerFailure(description: "an Alert has \(relay.state)")
        }
        return max(0, Double(ended.rawValue) - begin)
    }
}

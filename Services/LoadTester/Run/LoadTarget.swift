import Synchronization

/// The target of a load.
protocol LoadTarget: Sendable {
    /// Sends one message, and returns when it is answered.
    ///
    /// - Parameter index: The number of the message, from 0.
    /// - Returns: `nil` if all components were accepted; otherwise the class of each error, such as `fcm QUOTA_EXCEEDED`.
    ///   There are few classes.
    func send(_ index: Int) async -> [String]?

    /// The current bottlenecks, as the target reports them; empty if it reports none.
    func bottlenecks() async -> Set<Bottleneck>

    /// The executor on which sending is cheapest; `nil` for no preference.
    var executor: (any TaskExecutor)? { get }
}

extension LoadTarget {
    func bottlenecks() async -> Set<Bottleneck> { [] }

    var executor: (any TaskExecutor)? { nil }
}

/// What limits a load.
enum Bottleneck: String, CaseIterable, Encodable, CodingKeyRepresentable, Sendable {
    /// The relay is in the ramp to its full rate.
    case ramp
    /// The relay sends at its full rate, and cannot send faster.
    case pace
    /// FCM's quota for the project is used up.
    case quota

    /// A description, with the settings that control it.
    var explanation: String {
        switch self {
        case .ramp: "the relay's ramp to its full rate (MSI_FCM_RAMP)"
        case .pace: "the relay's full rate (MSI_FCM_QUOTA, MSI_FCM_QUOTA_SHARE)"
        case .quota: "FCM's quota for the project, which is used up"
        }
    }
}

/// Polls a target for its bottlenecks, and counts the seconds of each.
final class BottleneckRecorder: Sendable {
    private static let interval = Duration.milliseconds(250)

    private let seconds = Mutex<[Bottleneck: Set<Int>]>([:])

    /// The number of seconds in which each was seen.
    var totals: [Bottleneck: Int] { seconds.withLock { $0.mapValues(\.count) } }

    /// Polls until the task is cancelled.
    func watch(_ target: some LoadTarget) async {
        let start = ContinuousClock.now
        while !Task.isCancelled {
            let bottlenecks = await target.bottlenecks()
            let second = Int((ContinuousClock.now - start) / .seconds(1))
            seconds.withLock { seconds in
                for bottleneck in bottlenecks { seconds[bottleneck, default: []].insert(second) }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }
}

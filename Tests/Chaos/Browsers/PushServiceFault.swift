import Base
import TestSupport

/// A fault of a push service of browsers.
struct PushServiceFault: Hashable, Sendable {
    enum Action: String, Hashable, Sendable, CaseIterable {
        /// 429, with a `Retry-After`.
        case throttle
        /// 503.
        case fail
        /// It takes pushes, and breaks their connections before its answer.
        case loseAnswers
        /// It does not answer for longer than the hub waits.
        case hang
        /// It ends the subscriptions of some browsers.
        case endSubscriptions

        /// What it does with pushes during the fault.
        var behaviour: TestPushService.Behaviour {
            switch self {
            case .throttle: .throttles
            case .fail: .fails
            case .loseAnswers: .losesAnswers
            case .hang: .hangs
            case .endSubscriptions: .works
            }
        }

        /// In seconds.
        fileprivate var lengths: ClosedRange<Double> {
            switch self {
            case .throttle, .fail, .loseAnswers: 2...6
            // A request ends after ten seconds.
            case .hang: 11...14
            case .endSubscriptions: 0...0
            }
        }
    }

    /// Since the beginning.
    let at: Duration
    /// The number of the push service.
    let service: Int
    let action: Action
    let length: Duration
}

/// A fault of a push service that happened, in Unix milliseconds.
struct InjectedPushServiceFault: Hashable, Sendable {
    let service: Int
    let action: PushServiceFault.Action
    let began: Int64
    let ended: Int64

    func overlaps(_ time: ClosedRange<Int64>) -> Bool {
        began <= time.upperBound && ended >= time.lowerBound
    }
}

/// The schedule of the push services' faults. The same seed and length make the same one.
///
/// Each push service has one fault at a time, in rounds of all faults in random order, and works in between. A round takes less than a
/// minute. The push services fail independently of each other and of the product.
struct PushServiceSchedule: Hashable, Sendable {
    /// By the push service, and then in the order of time.
    let faults: [PushServiceFault]

    /// How long a push service works between two faults, in seconds.
    private static let pauses = 1.0...4.0

    init(seed: UInt64, length: Duration, services: Int) {
        // The processes' faults have the seed itself.
        var random = SeededGenerator(seed: ~seed)
        var faults: [PushServiceFault] = []
        for service in 0..<services {
            var round: [PushServiceFault.Action] = []
            var now = Duration.seconds(Double.random(in: Self.pauses, using: &random))
            while now < length {
                if round.isEmpty { round = PushServiceFault.Action.allCases.shuffled(using: &random) }
                let action = round.removeLast()
                let end = min(now + .seconds(Double.random(in: action.lengths, using: &random)), length)
                faults.append(PushServiceFault(at: now, service: service, action: action, length: end - now))
                now = end + .seconds(Double.random(in: Self.pauses, using: &random))
            }
        }
        self.faults = faults
    }
}

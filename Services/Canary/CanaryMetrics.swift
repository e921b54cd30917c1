import CoreMetrics
import Instruments
import Schemas

/// What the canary has measured.
struct CanaryMetrics: Sendable {
    private let durations: [Flight.Stage: CoreMetrics.Timer]
    private let outcomes: [Flight.Outcome: Counter]

    /// Makes all series except the time of the last arrival, so that the first failure is a change of one.
    ///
    /// - Parameter now: The start, from which the silence counts until a first message has arrived.
    init(interval: Duration, now: UnixMilliseconds) {
        durations = Dictionary(
            uniqueKeysWithValues: Flight.Stage.allCases.map { ($0, Instrument.canaryDuration.timer(["stage": $0.rawValue])) })
        outcomes = Dictionary(
            uniqueKeysWithValues: Flight.Outcome.allCases.map {
                ($0, Instrument.canaryMessages.counter(["outcome": $0.rawValue]))
            })
        Instrument.canaryInterval.gauge().set(Double(interval.components.seconds))
        Instrument.canaryStarted.gauge().set(Self.seconds(now))
        for counter in outcomes.values { counter.increment(by: 0) }
    }

    func reached(_ stage: Flight.Stage, since start: ContinuousClock.Instant) {
        durations[stage]?.record(since: start)
    }

    func ended(_ outcome: Flight.Outcome, at now: UnixMilliseconds) {
        outcomes[outcome]?.increment()
        if outcome.isDelivered { Instrument.canaryLastReceived.gauge().set(Self.seconds(now)) }
    }

    private static func seconds(_ time: UnixMilliseconds) -> Double { Double(time.rawValue) / 1_000 }
}

package import Bus
package import Base
package import Logging
import ServiceLifecycle

/// Work that repeats in the background: first at the start, and then each period. A stop cancels it and waits for its end.
///
/// While the work fails, an ``OutageLog`` says so once, and the pauses are those of a back-off. (`AsyncTimerSequence` of
/// swift-async-algorithms is the timer alone. Each of its timers wakes up the machine at another moment.)
package struct RepeatingService<State: Sendable>: Service {
    private let period: Duration
    private let retries: Backoff
    private let outage: OutageLog?
    private let begin: State
    private let work: @Sendable (inout State) async throws -> NextRun

    /// - Parameters:
    ///   - period: The time between two runs, with `Task.sleep(untilNext:)`.
    ///   - retries: The pauses after failures. By default they are as long as the period.
    ///   - outage: Says that the work fails.
    ///   - begin: What the first run knows. Each run gets it as the last one has left it.
    package init(
        every period: Duration, retries: Backoff? = nil, outage: OutageLog, from begin: State,
        work: @escaping @Sendable (inout State) async throws -> NextRun
    ) {
        self.period = period
        self.retries = retries ?? .constant(period)
        self.outage = outage
        self.begin = begin
        self.work = work
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            var state = begin
            var retries = retries
            while true {
                do {
                    let next = try await work(&state)
                    outage?.worked()
                    retries.succeeded()
                    switch next {
                    case .periodic: try await Task.sleep(untilNext: period)
                    case .after(let pause): try await Task.sleep(for: pause)
                    case .never: return
                    }
                } catch {
                    if Task.isCancelled { return }
                    outage?.failed(error)
                    guard (try? await Task.sleep(for: retries.failed())) != nil else { return }
                }
            }
        }
        // A service that returned would end the others.
        try? await gracefulShutdown()
    }
}

/// When the work of a ``RepeatingService`` runs again.
package enum NextRun: Sendable {
    /// At the next multiple of the period.
    case periodic
    case after(Duration)
    /// The work is done. The service stays until the others stop.
    case never
}

extension RepeatingService where State == Void {
    /// Work that needs nothing of its last run; as ``init(every:retries:outage:from:work:)``.
    package init(
        every period: Duration, retries: Backoff? = nil, outage: OutageLog, work: @escaping @Sendable () async throws -> Void
    ) {
        self.init(every: period, retries: retries, outage: outage, from: ()) { _ in
            try await work()
            return .periodic
        }
    }

    /// Work that handles its failures.
    package init(every period: Duration, work: @escaping @Sendable () async -> NextRun) {
        self.period = period
        retries = .constant(period)
        outage = nil
        begin = ()
        self.work = { _ in await work() }
    }

    /// Publishes the latest state once a second.
    package init(_ event: RepeatedEvent<some Encodable & Sendable>, logger: Logger) {
        var logger = logger
        logger[metadataKey: "event"] = "\(event.name)"
        // Subscribers notice that the announcements have stopped.
        self.init(every: .seconds(1), outage: OutageLog("an event's state cannot be read", logger: logger)) {
            try await event.announceState()
        }
    }
}

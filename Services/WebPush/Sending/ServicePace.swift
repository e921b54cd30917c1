import Base
import DequeModule
import Schemas

/// Decides when each push to one push service may be sent. Pure: events in, decisions out.
///
/// A service gets as many requests at a time as it answers: the limit grows with the answers, first quickly and then slowly, and halves
/// when the service fails or asks for a pause. Urgent pushes overtake the others that wait.
///
/// If the service asks for a pause several times in a row, nothing is sent until it is over. If it refuses the hub's pushes, nothing is
/// sent until an operator has corrected that; from time to time a single push finds out.
struct ServicePace<Waiter: Sendable>: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The decision about a waiting push.
    enum Decision: Sendable {
        case go(Waiter)
        case refuse(Waiter, Refusal)
    }

    /// Why a push is not sent now.
    enum Refusal: Hashable, Sendable {
        /// The service has asked for a pause, which is longer than the push can wait.
        case paused(Duration)
        /// More pushes wait than the service takes.
        case tooMuch
        /// The service refuses the hub's pushes, with the reason. The next one is tried after the time.
        case refusing(String, Duration)
        /// The service does not answer.
        case circuitOpen(DeliveryError)
        /// The process is stopping.
        case stopped
    }

    private struct Request: Sendable {
        let waiter: Waiter
        /// When it gives up waiting.
        let deadline: Instant
    }

    private static var firstLimit: Double { 10 }
    private static var maxLimit: Double { 200 }
    /// Up to this limit, the growth is quick even after failures.
    private static var minThreshold: Double { 8 }
    /// The service pauses after this many answers in a row that ask for it. A single one may be about its subscription.
    private static var maxThrottled: Int { 5 }
    /// The range of a pause.
    private static var pauses: ClosedRange<Milliseconds> { 1_000...600_000 }
    private static var usualPause: Milliseconds { 10_000 }
    /// This many refusals in a row are about the hub. Fewer are about their subscriptions while the service accepts pushes, or others are
    /// under way that will show it.
    private static var maxRefusals: Int { 5 }
    /// How long an accepted push proves that the service accepts the hub's pushes.
    private static var acceptanceMemory: Duration { .seconds(60) }
    /// The time between attempts while the service refuses the hub's pushes.
    private static var probeInterval: Duration { .seconds(60) }

    private var currentLimit: Double
    /// Up to this limit, each answer raises it by one; then a whole round of answers does.
    private var threshold: Double
    private var lastShrink: Instant?
    /// The number of requests without an answer.
    private(set) var inFlight = 0
    private var urgent: Deque<Request> = []
    private var others: Deque<Request> = []
    private var throttled = 0
    private var pausedUntil: Instant?
    private var lastAccepted: Instant?
    private var refusals = 0
    /// Why the service refuses the hub's pushes; `nil` if it does not.
    private(set) var refusing: String?
    /// When the next push goes to a service that refuses them.
    private var nextProbe: Instant?
    private var isStopped = false

    init() {
        currentLimit = Self.firstLimit
        threshold = Self.maxLimit
    }

    /// The number of requests that may be in flight.
    var limit: Int { Int(currentLimit) }

    /// The number of waiting pushes.
    var waiting: Int { urgent.count + others.count }

    /// The rest of a pause; `nil` if there is none.
    func pause(at now: Instant) -> Duration? {
        pausedUntil.flatMap { $0 > now ? $0 - now : nil }
    }

    /// Fast path: takes a push's turn if none waits and the service takes one now. ``ended(_:begun:at:)`` must follow.
    mutating func tryTakeTurn(at now: Instant) -> Bool {
        guard !isStopped, waiting == 0, mayBegin(at: now) else { return false }
        begin(at: now)
        return true
    }

    /// A push asks for its turn, after which ``ended(_:begun:at:)`` must follow.
    ///
    /// - Parameter deadline: When it gives up waiting.
    mutating func ask(_ waiter: Waiter, isUrgent: Bool, by deadline: Instant, at now: Instant) -> [Decision] {
        if let refusal = refusal(by: deadline, at: now) { return [.refuse(waiter, refusal)] }
        let request = Request(waiter: waiter, deadline: deadline)
        if isUrgent { urgent.append(request) } else { others.append(request) }
        return advance(at: now)
    }

    private func refusal(by deadline: Instant, at now: Instant) -> Refusal? {
        if isStopped { return .stopped }
        if let refusing, let nextProbe, nextProbe > now { return .refusing(refusing, nextProbe - now) }
        if let pause = pause(at: now), now + pause >= deadline { return .paused(pause) }
        return deadline <= now ? .tooMuch : nil
    }

    private func mayBegin(at now: Instant) -> Bool {
        if let nextProbe, nextProbe > now { return false }
        return pause(at: now) == nil && inFlight < limit
    }

    private mutating func begin(at now: Instant) {
        inFlight += 1
        if refusing != nil { nextProbe = now + Self.probeInterval }
    }

    /// Time has passed, or something has changed.
    mutating func advance(at now: Instant) -> [Decision] {
        var decisions = removeAll { $0.deadline <= now }.map { Decision.refuse($0.waiter, .tooMuch) }
        while mayBegin(at: now), let request = urgent.popFirst() ?? others.popFirst() {
            begin(at: now)
            decisions.append(.go(request.waiter))
        }
        return decisions
    }

    /// A push that had its turn has ended.
    ///
    /// - Parameter begin: When it was sent.
    mutating func ended(_ lesson: PushAnswer.Lesson, begun begin: Instant, at now: Instant) -> [Decision] {
        inFlight -= 1
        switch lesson {
        case .accepted:
            (throttled, refusals) = (0, 0)
            (refusing, nextProbe) = (nil, nil)
            lastAccepted = now
            grow()
        case .answered:
            throttled = 0
            grow()
            probeAgain(at: now)
        case .throttled(let pause):
            shrink(begun: begin, at: now)
            throttled += 1
            probeAgain(at: now)
            if throttled >= Self.maxThrottled { return pauseFor(pause ?? Self.usualPause, at: now) + advance(at: now) }
        case .failed:
            shrink(begun: begin, at: now)
            probeAgain(at: now)
        case .refused(let reason):
            refusals += 1
            if isRefusal(at: now) { return refuse(because: reason, at: now) }
        case .inconclusive:
            probeAgain(at: now)
        }
        return advance(at: now)
    }

    /// The limit grows only while it is in use.
    private mutating func grow() {
        guard Double(inFlight + 1) * 2 >= currentLimit else { return }
        currentLimit = min(Self.maxLimit, currentLimit + (currentLimit < threshold ? 1 : 1 / currentLimit))
    }

    /// Pushes that were sent before the last time say nothing about the new limit.
    private mutating func shrink(begun begin: Instant, at now: Instant) {
        if let lastShrink, begin < lastShrink { return }
        threshold = max(Self.minThreshold, currentLimit / 2)
        currentLimit = max(1, currentLimit / 2)
        lastShrink = now
    }

    private mutating func pauseFor(_ time: Milliseconds, at now: Instant) -> [Decision] {
        let end = now + Duration(min(max(time, Self.pauses.lowerBound), Self.pauses.upperBound))
        pausedUntil = max(pausedUntil ?? end, end)
        return removeAll { $0.deadline <= end }.map { .refuse($0.waiter, .paused(end - now)) }
    }

    /// A push that said nothing about the refusal lets the next one find out.
    private mutating func probeAgain(at now: Instant) {
        if refusing != nil { nextProbe = now }
    }

    /// Whether the last refusals are about the hub, and not about their subscriptions.
    private func isRefusal(at now: Instant) -> Bool {
        if refusals >= Self.maxRefusals { return true }
        // Those that are under way will show whether the service accepts any: one odd subscription does not keep back the others.
        if inFlight > 0 { return false }
        let accepts = lastAccepted.map { now - $0 < Self.acceptanceMemory } ?? false
        return !accepts
    }

    private mutating func refuse(because reason: String, at now: Instant) -> [Decision] {
        refusing = reason
        nextProbe = now + Self.probeInterval
        return removeAll { _ in true }.map { .refuse($0.waiter, .refusing(reason, Self.probeInterval)) }
    }

    /// The service does not answer: nothing waits for it.
    mutating func circuitOpened(_ error: DeliveryError) -> [Decision] {
        removeAll { _ in true }.map { .refuse($0.waiter, .circuitOpen(error)) }
    }

    /// Refuses all waiting pushes and every later one.
    mutating func stop() -> [Decision] {
        isStopped = true
        return removeAll { _ in true }.map { .refuse($0.waiter, .stopped) }
    }

    /// When to advance next; `nil` if nothing waits.
    func nextMoment(at now: Instant) -> Instant? {
        guard let deadline = [urgent, others].flatMap({ $0.map(\.deadline) }).min() else { return nil }
        // The end of an earlier pause changes nothing.
        return [pausedUntil, nextProbe].compactMap(\.self).filter { $0 > now }.reduce(deadline) { min($0, $1) }
    }

    private mutating func removeAll(where isGone: (Request) -> Bool) -> [Request] {
        // Mostly none is gone.
        let gone = Array(urgent.filter(isGone)) + Array(others.filter(isGone))
        if !gone.isEmpty {
            urgent.removeAll(where: isGone)
            others.removeAll(where: isGone)
        }
        return gone
    }
}

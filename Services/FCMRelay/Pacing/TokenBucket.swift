/// A token bucket with a ramp up to the full rate and a small burst. Pure. Times are those of any monotonic clock.
///
/// Google asks senders to take a minute or more from nothing to their full rate, and not to use up a minute's quota in
/// its first seconds (FCM, "Scale"). So the burst is limited to a tenth of a second, and the ramp starts again after a
/// time without traffic.
struct TokenBucket: Sendable {
    /// The full rate, in requests a second.
    let rate: Double
    let ramp: Duration

    /// The start of the ramp as a share of the rate: enough for a campus's normal traffic.
    private static let firstShare = 0.02
    /// The burst, in seconds at the current rate.
    private static let burst = 0.1
    /// After this time without traffic the ramp starts again.
    private static let forgetfulness = Duration.seconds(60)

    private var tokens: Double
    private var updated: ContinuousClock.Instant
    /// The start of the current ramp.
    private var begun: ContinuousClock.Instant
    private var lastTaken: ContinuousClock.Instant

    init(rate: Double, ramp: Duration, at now: ContinuousClock.Instant) {
        self.rate = rate
        self.ramp = ramp
        updated = now
        begun = now
        lastTaken = now
        tokens = 0
        tokens = capacity(at: now)
    }

    /// Takes tokens. Taking more than there are leaves a debt, which later takers wait for.
    ///
    /// - Returns: `nil` if there was at least one; otherwise when there will be one.
    mutating func take(_ count: Int = 1, at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if now - lastTaken > Self.forgetfulness { begun = now }
        let current = currentRate(at: now)
        tokens = min(capacity(at: now), tokens + (now - updated) / .seconds(1) * current)
        updated = now
        guard tokens >= 1 else { return now + .seconds((1 - tokens) / current) }
        tokens -= Double(count)
        lastTaken = now
        return nil
    }

    /// The rate at a point in time, during or after the ramp.
    func currentRate(at now: ContinuousClock.Instant) -> Double {
        guard ramp > .zero else { return rate }
        return rate * min(1, max(Self.firstShare, (now - begun) / ramp))
    }

    private func capacity(at now: ContinuousClock.Instant) -> Double {
        max(1, currentRate(at: now) * Self.burst)
    }
}

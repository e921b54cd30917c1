/// How many requests may go out: a rate that is reached in a ramp, and a small burst. Pure. Times are those of any monotonic
/// clock.
///
/// Google asks senders to take a minute or more from nothing to their full rate, and not to use a minute's quota up in its
/// first seconds (FCM, "Scale"). So what is not used is saved up for a tenth of a second at most, and the ramp begins anew
/// after a time without traffic.
struct TokenBucket: Sendable {
    /// The full rate, in requests a second.
    let rate: Double
    /// How long the ramp takes.
    let ramp: Duration

    /// Where the ramp begins: enough for what a campus sends on a quiet day.
    private static let firstShare = 0.02
    /// What may be saved up, as a time at the present rate.
    private static let burst = 0.1
    /// Without traffic for so long, the ramp begins anew.
    private static let forgetfulness = Duration.seconds(60)

    private var tokens: Double
    private var updated: ContinuousClock.Instant
    /// When the present ramp began.
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

    /// Takes some. More than there are leaves a debt, which those that follow wait for.
    ///
    /// - Returns: `nil` where there was one at least; otherwise when there will be one.
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

    /// The rate at a moment of the ramp.
    func currentRate(at now: ContinuousClock.Instant) -> Double {
        guard ramp > .zero else { return rate }
        return rate * min(1, max(Self.firstShare, (now - begun) / ramp))
    }

    private func capacity(at now: ContinuousClock.Instant) -> Double {
        max(1, currentRate(at: now) * Self.burst)
    }
}

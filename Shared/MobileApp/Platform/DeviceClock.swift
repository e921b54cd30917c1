/// The phone's clock and time zone. Either may change while the app runs.
public protocol DeviceClock: Sendable {
    /// Unix milliseconds.
    var now: Int64 { get }

    /// The difference of local time from UTC, in seconds, at a moment in Unix milliseconds. It includes daylight saving time.
    func offset(at moment: Int64) -> Int

    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
}

extension DeviceClock {
    /// The beginning of a local day, in Unix milliseconds.
    ///
    /// - Parameter days: 0 for today, -1 for yesterday.
    func beginningOfDay(_ days: Int64 = 0) -> Int64 {
        let day: Int64 = 86_400_000
        let now = now
        let local = now + Int64(offset(at: now)) * 1_000
        let midnight = ((local.quotientRoundedDown(by: day)) + days) * day
        // The offset of that night may differ from today's.
        let guess = midnight - Int64(offset(at: midnight - Int64(offset(at: now)) * 1_000)) * 1_000
        return guess
    }
}

/// The other side has not answered in time.
public struct TimedOut: Error, Hashable, Sendable {}

extension DeviceClock {
    /// Ends work that takes too long.
    ///
    /// - Throws: ``TimedOut``, or the error of the work.
    func within<Value: Sendable>(_ limit: Duration, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask(operation: work)
            group.addTask {
                try await sleep(for: limit)
                throw TimedOut()
            }
            guard let value = try await group.next() else { throw TimedOut() }
            return value
        }
    }
}

extension Int64 {
    fileprivate func quotientRoundedDown(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

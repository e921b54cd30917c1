import Schemas

/// The doubtful leases of a process, each until its end. Pure.
struct DoubtfulLeases: Sendable {
    /// While there are this many, no other is added. Those end by themselves.
    private static let maxCount = 10_000

    private var leases: Set<DoubtfulLease> = []
    /// Whether a task is releasing them.
    private var isTaskRunning = false

    /// - Returns: Whether the caller must start the task that releases them.
    mutating func add(_ lease: DoubtfulLease) -> Bool {
        if leases.count < Self.maxCount { leases.insert(lease) }
        defer { isTaskRunning = true }
        return !isTaskRunning
    }

    /// Forgets the leases that have ended.
    ///
    /// - Returns: The others; `nil` if there are none. Then the task must end.
    mutating func remaining(at now: UnixMilliseconds) -> Set<DoubtfulLease>? {
        // If the rest is longer than a lease, the clock was set back.
        leases = leases.filter { $0.lease.until > now && $0.lease.until <= now + Lease.duration }
        isTaskRunning = !leases.isEmpty
        return isTaskRunning ? leases : nil
    }
}

import Base

/// The workers of a server that wait for a request. Those that were not needed for a while are ended: a worker is a task, and keeps the
/// memory of its largest handler. Pure.
struct IdleWorkers<Wake> {
    /// The number of workers that always stay.
    static var alwaysKept: Int { 8 }
    /// The time over which it is counted how many were needed.
    static var period: Milliseconds { 5_000 }

    /// The last one was busy most recently, and is the next to get a request.
    private var waiting: [Wake] = []
    /// The minimum number that waited since the last count.
    private var unneeded = 0
    private var nextCount: MonotonicMilliseconds = 0

    var count: Int { waiting.count }

    mutating func add(_ wake: Wake) {
        waiting.append(wake)
    }

    /// Takes the one that was busy most recently.
    mutating func take() -> Wake? {
        defer { unneeded = min(unneeded, waiting.count) }
        return waiting.popLast()
    }

    /// Removes those that were not needed in the last period; mostly none.
    mutating func takeUnneeded(at now: MonotonicMilliseconds) -> [Wake] {
        guard nextCount <= now else { return [] }
        nextCount = now.next(Self.period)
        defer { unneeded = waiting.count }
        let count = min(unneeded, waiting.count - Self.alwaysKept)
        guard count > 0 else { return [] }
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    mutating func takeAll() -> [Wake] {
        defer { waiting = [] }
        return waiting
    }
}

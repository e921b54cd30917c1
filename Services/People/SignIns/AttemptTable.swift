import Time

/// The limit of one kind of key.
struct AttemptLimit: Sendable {
    /// The number of wrong attempts without a wait.
    let free: Int
    var wait = Backoff(first: .seconds(1), max: .seconds(60))
    /// Wrong attempts are forgotten after this time without another one.
    var memory = Duration.seconds(900)
    /// The maximum number of keys; those with the oldest attempts are forgotten first.
    var maxKeys = 10_000
}

/// The wrong attempts by key. Pure.
struct AttemptTable<Key: Hashable & Sendable>: Sendable {
    /// A key at its limit is reported once in this time.
    private static var reportPeriod: Duration { .seconds(3_600) }

    private struct Entry {
        var failures = 0
        var last: ContinuousClock.Instant
        var next: ContinuousClock.Instant
        var reported: ContinuousClock.Instant?
    }

    private let limit: AttemptLimit
    private var entries: [Key: Entry] = [:]

    init(_ limit: AttemptLimit) {
        self.limit = limit
    }

    /// How long the next attempt has to wait.
    func wait(for key: Key, now: ContinuousClock.Instant) -> Duration {
        guard let entry = entries[key], entry.last + limit.memory > now else { return .zero }
        return now.duration(to: entry.next)
    }

    /// Whether no attempt is free any more.
    func isLimited(_ key: Key, now: ContinuousClock.Instant) -> Bool {
        guard let entry = entries[key], entry.last + limit.memory > now else { return false }
        return entry.failures >= limit.free
    }

    mutating func count(_ key: Key, now: ContinuousClock.Instant) {
        if entries[key] == nil, entries.count >= limit.maxKeys { makeRoom(now: now) }
        var entry = entries[key] ?? Entry(last: now, next: now)
        if entry.last + limit.memory <= now { entry = Entry(last: now, next: now) }
        entry.failures += 1
        entry.last = now
        setWait(&entry)
        entries[key] = entry
    }

    mutating func uncount(_ key: Key) {
        guard var entry = entries[key] else { return }
        entry.failures -= 1
        setWait(&entry)
        entries[key] = entry.failures > 0 ? entry : nil
    }

    mutating func forget(_ key: Key) {
        entries[key] = nil
    }

    /// The number of wrong attempts, if the key is at its limit and this was not reported within an hour.
    mutating func report(_ key: Key, now: ContinuousClock.Instant) -> Int? {
        guard let entry = entries[key], entry.failures >= limit.free,
            entry.reported.map({ $0 + Self.reportPeriod <= now }) ?? true
        else { return nil }
        entries[key]?.reported = now
        return entry.failures
    }

    private func setWait(_ entry: inout Entry) {
        let waits = entry.failures - limit.free
        entry.next = waits >= 0 ? entry.last + limit.wait.pause(after: waits + 1) : entry.last
    }

    /// Forgets a tenth of the keys, so that it is rarely necessary.
    private mutating func makeRoom(now: ContinuousClock.Instant) {
        entries = entries.filter { $0.value.last + limit.memory > now }
        let excess = entries.count - (limit.maxKeys - max(1, limit.maxKeys / 10))
        guard excess > 0 else { return }
        for (key, _) in entries.sorted(by: { $0.value.last < $1.value.last }).prefix(excess) { entries[key] = nil }
    }
}

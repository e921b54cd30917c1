/// What has sockets on the bus thread: a client, a server, a publisher, a subscriber.
///
/// Made on any thread and handed over through the outbox; from then on only the bus thread calls it.
protocol BusParticipant: AnyObject, Sendable {
    /// The sockets to wait for; always the same ones.
    var sockets: [ZeroMQSocket] { get }

    /// Receives a bounded part of what one of the sockets has, if it has anything: what is left is asked for again.
    ///
    /// - Returns: Whether there was anything.
    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool

    /// Makes a task ready for something that waits for one. Called again when that task has run.
    ///
    /// - Returns: Whether it did.
    func wakeTask() -> Bool

    /// Sends what work and tasks have left to be sent.
    ///
    /// At once, because ZeroMQ's own thread, which sends what is there and falls asleep, is woken for each message otherwise.
    func flush()

    /// When to call ``tick(now:)``; `nil` as long as time does not matter.
    var nextTick: MonotonicMilliseconds? { get }

    func tick(now: MonotonicMilliseconds)

    /// The process goes on after a time in which it did not run.
    func resume(after pause: Milliseconds, now: MonotonicMilliseconds)

    /// Ends everything that is under way and closes the sockets. Called once.
    func close()
}

extension BusParticipant {
    func wakeTask() -> Bool { false }

    func flush() {}

    var nextTick: MonotonicMilliseconds? { nil }

    func tick(now: MonotonicMilliseconds) {}

    func resume(after pause: Milliseconds, now: MonotonicMilliseconds) {}
}

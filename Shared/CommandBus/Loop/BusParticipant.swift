import Time

/// An owner of sockets on the bus thread: a client, a server, a publisher or a subscriber.
///
/// It is created on any thread and handed over through the work queue. From then on only the bus thread calls it.
protocol BusParticipant: AnyObject, Sendable {
    /// The sockets to poll. Closed ones are left out, but count in the indices. Only ``renewSockets(now:)`` changes them.
    var sockets: [ZeroMQSocket] { get }

    /// Receives a bounded number of messages from one of the sockets. The loop calls it again for the rest.
    ///
    /// - Returns: Whether there were any messages.
    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool

    /// Resumes a task for waiting work, if there is any. Called again after that task has run.
    ///
    /// - Returns: Whether it resumed one.
    func wakeTask() -> Bool

    /// Sends the messages that work and tasks have queued.
    ///
    /// They are sent together, because otherwise each message would wake ZeroMQ's I/O thread.
    func flush()

    /// When to call ``tick(now:)``; `nil` while no timer is set.
    var nextTick: MonotonicMilliseconds? { get }

    func tick(now: MonotonicMilliseconds)

    /// The instances of its patterns have changed. A tick follows, and then ``renewSockets(now:)``.
    func found(_ instances: [String])

    /// Opens and closes sockets, if that is necessary. Called after each tick.
    ///
    /// - Returns: Whether ``sockets`` has changed.
    func renewSockets(now: MonotonicMilliseconds) -> Bool

    /// The process continues after a pause.
    func resume(after pause: Milliseconds, now: MonotonicMilliseconds)

    /// Fails pending work and closes the sockets. Called once.
    func close()
}

extension BusParticipant {
    func wakeTask() -> Bool { false }

    func flush() {}

    var nextTick: MonotonicMilliseconds? { nil }

    func tick(now: MonotonicMilliseconds) {}

    func found(_ instances: [String]) {}

    func renewSockets(now: MonotonicMilliseconds) -> Bool { false }

    func resume(after pause: Milliseconds, now: MonotonicMilliseconds) {}
}

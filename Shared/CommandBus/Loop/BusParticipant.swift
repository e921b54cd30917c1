/// What has sockets on the bus thread: a client, a server, a publisher, a subscriber.
///
/// Made on any thread and handed over through the outbox; from then on only the bus thread calls it.
protocol BusParticipant: AnyObject, Sendable {
    /// The sockets to wait for; always the same ones.
    var sockets: [ZeroMQSocket] { get }

    /// One of the sockets has something to receive. Takes a bounded part of it: what is left is announced again.
    func receive(from index: Int, now: MonotonicMilliseconds)

    /// When to call ``tick(now:)``; `nil` as long as time does not matter.
    var nextTick: MonotonicMilliseconds? { get }

    func tick(now: MonotonicMilliseconds)

    /// Ends everything that is under way and closes the sockets. Called once.
    func close()
}

extension BusParticipant {
    var nextTick: MonotonicMilliseconds? { nil }

    func tick(now: MonotonicMilliseconds) {}
}

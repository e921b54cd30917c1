/// A server that accepts messages over the network, syncs them to disk, and hands them to a consumer that acknowledges each.
protocol DurableQueue {
    var name: String { get }

    /// The processor time of all its processes so far, in seconds, without that of the programs that post and consume.
    var processorTime: Double { get throws }

    /// The syncs of all its processes; none if it is not traced.
    var syncLogs: [SyncLog] { get }

    /// Posts messages for some seconds, and waits until all of them are consumed.
    ///
    /// - Parameter inFlight: The number of messages that are sent and not accepted yet.
    func run(inFlight: Int, seconds: Double) async throws -> QueueRun
}

/// The outcome of one run of a queue.
struct QueueRun {
    let messages: Int
    /// From the first message until the last one is accepted.
    let acceptedSeconds: Double
    /// From the first message until the last one is acknowledged.
    let seconds: Double
    /// From a message to its acceptance.
    let answer: Latency
}

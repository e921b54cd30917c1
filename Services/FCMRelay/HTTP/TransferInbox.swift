/// What callers have left for the transport's thread: a value that ``CurlTransport`` guards with its lock.
///
/// Generic over what is left there, because it looks at none of it.
struct TransferInbox<Transfer> {
    /// All that has come in since the thread last looked.
    struct Batch {
        var arrivals: [Transfer] = []
        /// The ids of transfers that nobody waits for any more. Some may have ended.
        var cancelled: [UInt64] = []
        var isStopping = false
    }

    enum Submission {
        case accepted(wake: Bool)
        case refused(TransportError)
    }

    private let mostOutstanding: Int
    private var outstanding = 0
    private var batch = Batch()
    /// A wake-up is on its way, and the thread will see whatever is added before it looks.
    private var isWoken = false

    init(mostOutstanding: Int) {
        self.mostOutstanding = mostOutstanding
    }

    mutating func submit(_ transfer: Transfer) -> Submission {
        if batch.isStopping { return .refused(TransportError(.stopped, "the relay is stopping")) }
        if outstanding >= mostOutstanding {
            return .refused(TransportError(.overloaded, "\(mostOutstanding) requests wait already"))
        }
        outstanding += 1
        batch.arrivals.append(transfer)
        return .accepted(wake: wake())
    }

    /// - Returns: Whether the thread must be woken.
    mutating func cancel(_ id: UInt64) -> Bool {
        if batch.isStopping { return false }
        batch.cancelled.append(id)
        return wake()
    }

    /// - Returns: Whether the thread must be woken.
    mutating func stop() -> Bool {
        if batch.isStopping { return false }
        batch.isStopping = true
        return wake()
    }

    /// Hands everything to the thread.
    ///
    /// - Parameter ended: How many transfers the thread has ended since it last asked.
    mutating func take(ended: Int) -> Batch {
        outstanding -= ended
        isWoken = false
        defer { batch = Batch(isStopping: batch.isStopping) }
        return batch
    }

    private mutating func wake() -> Bool {
        defer { isWoken = true }
        return !isWoken
    }
}

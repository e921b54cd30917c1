/// What callers have left for the transport's thread: a value that ``CurlTransport`` guards with its lock.
struct TransferInbox {
    /// All that has come in since the thread last looked.
    struct Batch {
        var arrivals: [Exchange] = []
        /// Those that nobody waits for any more. Some may have ended, or be yet to come.
        var cancelled: [Exchange] = []
        /// Whether the arrivals go over new connections.
        var renewsConnections = false
        var isStopping = false
    }

    enum Submission {
        case accepted(wake: Bool)
        case refused(TransportError)
    }

    private let maxOutstanding: Int
    private var outstanding = 0
    private var batch = Batch()
    /// A wake-up is on its way, and the thread will see whatever is added before it looks.
    private var isWoken = false
    private var refusesNew = false

    init(maxOutstanding: Int) {
        self.maxOutstanding = maxOutstanding
    }

    /// Takes all of an exchange's transfers or none.
    mutating func submit(_ exchange: Exchange) -> Submission {
        if batch.isStopping || refusesNew { return .refused(TransportError(.stopped, "the relay is stopping")) }
        if outstanding + exchange.transfers.count > maxOutstanding {
            return .refused(TransportError(.overloaded, "as many as \(maxOutstanding) requests wait already"))
        }
        outstanding += exchange.transfers.count
        batch.arrivals.append(exchange)
        return .accepted(wake: wake())
    }

    /// - Returns: Whether the thread must be woken.
    mutating func cancel(_ exchange: Exchange) -> Bool {
        if batch.isStopping { return false }
        batch.cancelled.append(exchange)
        return wake()
    }

    /// What was submitted before goes on.
    mutating func refuseNew() {
        refusesNew = true
    }

    /// What comes in from now on, and what comes with it, goes over new connections.
    mutating func renewConnections() {
        batch.renewsConnections = true
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

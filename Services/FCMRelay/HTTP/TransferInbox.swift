/// Requests and other calls for the transport's thread. ``CurlTransport`` guards it with its lock.
struct TransferInbox {
    /// Everything that has arrived since the thread's last take.
    struct Batch {
        var arrivals: [TransferGroup] = []
        /// Cancelled groups. Some may have ended, and some may not be submitted yet.
        var cancelled: [TransferGroup] = []
        /// Whether the arrivals use new connections.
        var renewsConnections = false
        var isStopping = false
    }

    enum Submission {
        case accepted(wake: Bool)
        case refused(TransportError)
    }

    private let maxPending: Int
    private var pending = 0
    private var batch = Batch()
    /// Whether a wake-up is pending. The thread will then see everything that is added before its next take.
    private var isWoken = false
    private var refusesNew = false

    init(maxPending: Int) {
        self.maxPending = maxPending
    }

    /// Accepts all transfers of a group, or none.
    mutating func submit(_ group: TransferGroup) -> Submission {
        if batch.isStopping || refusesNew { return .refused(TransportError(.stopped, "the relay is stopping")) }
        if pending + group.transfers.count > maxPending {
            return .refused(TransportError(.overloaded, "as many as \(maxPending) requests wait already"))
        }
        pending += group.transfers.count
        batch.arrivals.append(group)
        return .accepted(wake: wake())
    }

    /// - Returns: Whether the thread must be woken.
    mutating func cancel(_ group: TransferGroup) -> Bool {
        if batch.isStopping { return false }
        batch.cancelled.append(group)
        return wake()
    }

    /// Refuses new groups. Earlier ones continue.
    mutating func refuseNew() {
        refusesNew = true
    }

    /// The current batch and all later ones use new connections.
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
        pending -= ended
        isWoken = false
        defer { batch = Batch(isStopping: batch.isStopping) }
        return batch
    }

    private mutating func wake() -> Bool {
        defer { isWoken = true }
        return !isWoken
    }
}

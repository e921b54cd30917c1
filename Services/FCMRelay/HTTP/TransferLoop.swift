import CCurl

/// What the transport's thread does in one turn after another: takes what has come in, starts as many transfers as the
/// connections carry, lets libcurl work, and ends what is done, cancelled or too late.
struct TransferLoop {
    /// Deadlines are kept here and not by libcurl, which forgets those of transfers that wait for a connection (7.88.1).
    private static let deadlineCheck = Duration.milliseconds(50)
    private static let longestWait = Duration.seconds(10)

    private let multi: CurlMulti
    private let configuration: CurlConfiguration
    private let clock = ContinuousClock()
    /// Everything without an outcome, by id.
    private var open: [UInt64: Transfer] = [:]
    /// Ids that wait for their turn, oldest first; some may have ended meanwhile.
    private var queue: [UInt64] = []
    /// The transfers in libcurl's hands: by id, and back by handle.
    private var running: [UInt64: CurlEasy] = [:]
    private var idByHandle: [UnsafeMutableRawPointer: UInt64] = [:]
    private var idle: [CurlEasy] = []
    private var ended = 0
    private var nextDeadlineCheck: ContinuousClock.Instant
    private(set) var isStopped = false

    init(multi: CurlMulti, configuration: CurlConfiguration) {
        self.multi = multi
        self.configuration = configuration
        nextDeadlineCheck = clock.now
    }

    /// How many transfers have ended since this was last asked.
    mutating func takeEnded() -> Int {
        defer { ended = 0 }
        return ended
    }

    /// One turn: returns when there may be something new.
    mutating func turn(_ batch: TransferInbox<Transfer>.Batch) {
        for transfer in batch.arrivals {
            open[transfer.id] = transfer
            queue.append(transfer.id)
        }
        for id in batch.cancelled {
            abandon(id, .cancelled, "nobody waits for the answer any more")
        }
        if batch.isStopping {
            stop()
            return
        }
        startWaiting()
        multi.perform()
        finishEnded()
        endLate()
        // A transfer that ended has made room for one that waits.
        let mayStart = !queue.isEmpty && running.count < configuration.mostInFlight
        if !mayStart { multi.wait(for: open.isEmpty ? Self.longestWait : Self.deadlineCheck) }
    }

    /// Starts what waits, oldest first, as far as there is room. What has waited too long is not sent.
    private mutating func startWaiting() {
        let room = configuration.mostInFlight - running.count
        guard room > 0, !queue.isEmpty else { return }
        let now = clock.now
        var taken = 0
        var started = 0
        while started < room, taken < queue.count {
            if let transfer = open[queue[taken]] {
                if transfer.request.deadline <= now {
                    endLate(transfer)
                } else {
                    start(transfer)
                    started += 1
                }
            }
            taken += 1
        }
        queue.removeFirst(taken)
    }

    private mutating func start(_ transfer: Transfer) {
        do throws(TransportError) {
            let easy = if let easy = idle.popLast() { easy } else { try CurlEasy(configuration) }
            running[transfer.id] = easy
            idByHandle[easy.handle] = transfer.id
            try easy.prepare(transfer.request)
            try multi.add(easy)
        } catch {
            if let easy = running[transfer.id] { release(easy, of: transfer.id) }
            end(transfer.id, .failure(error))
        }
    }

    private mutating func finishEnded() {
        while let (handle, status) = multi.nextEnded() {
            guard let id = idByHandle[handle], let easy = running[id] else { continue }
            let outcome = easy.outcome(status)
            release(easy, of: id)
            end(id, outcome)
        }
    }

    private mutating func endLate() {
        let now = clock.now
        guard now >= nextDeadlineCheck else { return }
        nextDeadlineCheck = now + Self.deadlineCheck
        for transfer in open.values.filter({ $0.request.deadline <= now }) {
            endLate(transfer)
        }
    }

    private mutating func endLate(_ transfer: Transfer) {
        abandon(transfer.id, .timeout, "no answer in time")
    }

    private mutating func stop() {
        for id in Array(open.keys) { abandon(id, .stopped, "the relay is stopping") }
        for easy in idle { easy.close() }
        idle = []
        isStopped = true
    }

    /// Ends a transfer, if it has not ended, wherever it is.
    private mutating func abandon(_ id: UInt64, _ code: TransportError.Code, _ description: String) {
        guard open[id] != nil else { return }
        var hasBeenSent = false
        if let easy = running[id] {
            hasBeenSent = easy.hasBeenSent
            release(easy, of: id)
        }
        end(id, .failure(TransportError(code, description, mayHaveBeenProcessed: hasBeenSent)))
    }

    private mutating func release(_ easy: CurlEasy, of id: UInt64) {
        multi.remove(easy)
        running[id] = nil
        idByHandle[easy.handle] = nil
        idle.append(easy)
    }

    private mutating func end(_ id: UInt64, _ outcome: Transfer.Outcome) {
        open.removeValue(forKey: id)?.end(outcome)
        ended += 1
    }
}

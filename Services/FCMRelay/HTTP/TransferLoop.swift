import CCurl

/// What the transport's thread does in one turn after another: takes what has come in, starts as many transfers as the
/// connections carry, lets libcurl work, and ends what is done, cancelled or too late.
struct TransferLoop {
    /// Deadlines are kept here and not by libcurl, which forgets those of transfers that wait for a connection (7.88.1).
    private static let deadlineCheck = Duration.milliseconds(50)
    private static let longestWait = Duration.seconds(10)
    /// How long memory is kept that was needed once.
    private static let longestSpare = Duration.seconds(10)

    private let multi: CurlMulti
    private let configuration: CurlConfiguration
    private let clock = ContinuousClock()
    /// Everything without an outcome, in no order.
    private var open: [Transfer] = []
    /// What waits for its turn, oldest first; some may have ended meanwhile.
    private var queue: [Transfer] = []
    /// Those that libcurl says have ended: kept for its memory alone.
    private var done: [CurlEasy] = []
    /// The handles, of which those in use carry the transfers that are in libcurl's hands.
    private var handles: SparePool<CurlEasy>
    private var ended = 0
    private var nextDeadlineCheck: ContinuousClock.Instant
    private(set) var isStopped = false

    init(multi: CurlMulti, configuration: CurlConfiguration) {
        self.multi = multi
        self.configuration = configuration
        let now = clock.now
        nextDeadlineCheck = now
        handles = SparePool(period: Self.longestSpare, at: now)
    }

    /// How many transfers have ended since this was last asked.
    mutating func takeEnded() -> Int {
        defer { ended = 0 }
        return ended
    }

    /// One turn: returns when there may be something new.
    mutating func turn(_ batch: TransferInbox.Batch) {
        for exchange in batch.arrivals { exchange.transfers.forEach { take($0) } }
        for exchange in batch.cancelled {
            for transfer in exchange.transfers where transfer.place != nil {
                abandon(transfer, .cancelled, "nobody waits for the answer any more")
            }
        }
        if batch.isStopping {
            stop()
            return
        }
        startWaiting()
        multi.perform()
        finishEnded()
        endLate()
        closeUnneeded()
        // A transfer that ended has made room for one that waits.
        let mayStart = !queue.isEmpty && handles.inUse < configuration.mostInFlight
        if !mayStart { multi.wait(for: open.isEmpty ? Self.longestWait : Self.deadlineCheck) }
    }

    private mutating func take(_ transfer: Transfer) {
        transfer.place = open.count
        open.append(transfer)
        queue.append(transfer)
    }

    /// Starts what waits, oldest first, as far as there is room. What has waited too long is not sent.
    private mutating func startWaiting() {
        let room = configuration.mostInFlight - handles.inUse
        guard room > 0, !queue.isEmpty else { return }
        let now = clock.now
        var taken = 0
        var started = 0
        while started < room, taken < queue.count {
            let transfer = queue[taken]
            taken += 1
            if transfer.place == nil { continue }
            if transfer.request.deadline <= now {
                endLate(transfer)
            } else {
                start(transfer)
                started += 1
            }
        }
        queue.removeFirst(taken)
    }

    private mutating func start(_ transfer: Transfer) {
        do throws(TransportError) {
            let easy = try handle()
            transfer.easy = easy
            easy.carried = transfer
            try easy.prepare(transfer.request)
            try multi.add(easy)
        } catch {
            release(transfer)
            end(transfer, .failure(error))
        }
    }

    private mutating func handle() throws(TransportError) -> CurlEasy {
        if let easy = handles.take() { return easy }
        do {
            return try CurlEasy(configuration)
        } catch {
            handles.gotNone()
            throw error
        }
    }

    private mutating func finishEnded() {
        // All first: libcurl looks through what it has not said yet whenever one is taken out.
        while let easy = multi.nextEnded() { done.append(easy) }
        for easy in done {
            guard let transfer = easy.carried else { continue }
            let outcome = easy.outcome()
            release(transfer)
            end(transfer, outcome)
        }
        done.removeAll(keepingCapacity: true)
    }

    private mutating func endLate() {
        let now = clock.now
        guard now >= nextDeadlineCheck else { return }
        nextDeadlineCheck = now + Self.deadlineCheck
        for transfer in open.filter({ $0.request.deadline <= now }) { endLate(transfer) }
    }

    /// After many transfers at a time, gives the memory of those that did not come again back to the system.
    private mutating func closeUnneeded() {
        let unneeded = handles.unneeded(at: clock.now)
        guard !unneeded.isEmpty else { return }
        for easy in unneeded { easy.close() }
        malloc_trim(0)
    }

    private mutating func endLate(_ transfer: Transfer) {
        abandon(transfer, .timeout, "no answer in time")
    }

    private mutating func stop() {
        for transfer in open { abandon(transfer, .stopped, "the relay is stopping") }
        for easy in handles.takeOutAll() { easy.close() }
        isStopped = true
    }

    /// Ends a transfer that has not ended, wherever it is.
    private mutating func abandon(_ transfer: Transfer, _ code: TransportError.Code, _ description: String) {
        let hasBeenSent = transfer.easy?.hasBeenSent ?? false
        release(transfer)
        end(transfer, .failure(TransportError(code, description, mayHaveBeenProcessed: hasBeenSent)))
    }

    /// Takes it out of libcurl's hands, if it is there.
    private mutating func release(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        multi.remove(easy)
        transfer.easy = nil
        easy.carried = nil
        handles.giveBack(easy)
    }

    private mutating func end(_ transfer: Transfer, _ outcome: HTTPTransportOutcome) {
        guard let place = transfer.place.take(), let last = open.popLast() else { return }
        if last !== transfer {
            open[place] = last
            last.place = place
        }
        ended += 1
        transfer.end(outcome)
    }
}

import CCurl
import DequeModule
import Glibc

/// The loop of the transport's thread. Each iteration takes new transfers, starts as many as the connections carry, lets libcurl
/// work, and ends transfers that are done, cancelled or late.
struct TransferLoop {
    /// The interval of deadline checks. libcurl (7.88.1) ignores the timeouts of transfers that wait for a connection.
    private static let deadlineCheck = Duration.milliseconds(50)
    private static let silenceCheck = Duration.milliseconds(250)
    private static let maxWait = Duration.seconds(10)
    /// libcurl (7.88.1) asks the kernel for the state of every unanswered transfer's socket in every iteration. So with many of them
    /// the loop pauses before the next iteration, in microseconds for each, and that one has more to do.
    private static let pauseForTransfer = 2
    private static let pauses = 100...1_000
    /// How long spare handles are kept.
    private static let maxSpare = Duration.seconds(10)

    private let configuration: CurlConfiguration
    /// The connections for new transfers.
    private var connections: ConnectionSet
    /// Abandoned connections whose transfers are still pending. Each set is closed after its last transfer.
    private var abandoned: [ConnectionSet] = []
    /// Whether ``multi`` has changed in this iteration.
    private var hasRenewed = false
    private let clock = ContinuousClock()
    /// All transfers without an outcome, in no order.
    private var open: [Transfer] = []
    /// Transfers that are not started yet, oldest first. Some may have ended since.
    private var queue: Deque<Transfer> = []
    /// Transfers that libcurl has finished. It is a property only to reuse its memory.
    private var done: [CurlEasy] = []
    /// The handles. Those in use carry the transfers that libcurl works on.
    private var handles: ReusePool<CurlEasy>
    private var ended = 0
    /// How many transfers this iteration has started.
    private var started = 0
    private var nextDeadlineCheck: ContinuousClock.Instant
    private var nextSilenceCheck: ContinuousClock.Instant
    private(set) var isStopped = false

    init(_ configuration: CurlConfiguration) throws(TransportError) {
        self.configuration = configuration
        connections = try ConnectionSet(configuration)
        let now = clock.now
        nextDeadlineCheck = now
        nextSilenceCheck = now
        handles = ReusePool(period: Self.maxSpare, at: now)
    }

    /// The handle to wake up for the next iteration. It may change with each one.
    var multi: CurlMulti { connections.multi }

    /// Returns how many transfers have ended since the last call.
    mutating func takeEnded() -> Int {
        defer { ended = 0 }
        return ended
    }

    /// Runs one iteration. Returns when there may be something new.
    mutating func runOnce(_ batch: TransferInbox.Batch) {
        closeAbandoned()
        hasRenewed = false
        for group in batch.arrivals { group.transfers.forEach { take($0) } }
        for group in batch.cancelled {
            for transfer in group.transfers where transfer.index != nil {
                abandon(transfer, .cancelled, "the request was cancelled")
            }
        }
        if batch.isStopping {
            stop()
            return
        }
        if batch.renewsConnections { renewConnections() }
        startWaiting()
        for set in abandoned { set.multi.perform() }
        multi.perform()
        finishEnded()
        endLate()
        abandonSilentConnections()
        closeUnneeded()
        // An ended transfer has made room for a queued one. After a renewal of the connections no event would end the wait.
        let mayStart = !queue.isEmpty && connections.transfers < configuration.maxInFlight
        guard !mayStart, !hasRenewed else { return }
        pauseForMany()
        multi.wait(for: open.isEmpty && abandoned.isEmpty ? Self.maxWait : Self.deadlineCheck)
    }

    /// Pauses if many transfers have been waiting for an answer since before this iteration. Those that it has started do not
    /// count: a server may answer them at once.
    private func pauseForMany() {
        let pause = (connections.transfers - started) * Self.pauseForTransfer
        if pause >= Self.pauses.lowerBound { usleep(UInt32(min(pause, Self.pauses.upperBound))) }
    }

    private mutating func take(_ transfer: Transfer) {
        transfer.index = open.count
        open.append(transfer)
        queue.append(transfer)
    }

    /// Starts queued transfers, oldest first, while there is room. Late ones are not sent.
    private mutating func startWaiting() {
        started = 0
        let room = configuration.maxInFlight - connections.transfers
        guard room > 0, !queue.isEmpty else { return }
        let now = clock.now
        while started < room, let transfer = queue.popFirst() {
            if transfer.index == nil { continue }
            if transfer.request.deadline <= now {
                endLate(transfer)
            } else {
                start(transfer)
                started += 1
            }
        }
    }

    private mutating func start(_ transfer: Transfer) {
        do throws(TransportError) {
            let easy = try handle()
            transfer.easy = easy
            easy.carried = transfer
            try easy.prepare(transfer.request)
            try connections.add(easy)
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
        // Collect all of them first: at each removal libcurl scans its unread messages.
        for set in abandoned { while let easy = set.multi.nextEnded() { done.append(easy) } }
        while let easy = multi.nextEnded() { done.append(easy) }
        guard !done.isEmpty else { return }
        let now = clock.now
        for easy in done {
            guard let transfer = easy.carried else { continue }
            let outcome = easy.outcome()
            if case .success = outcome { easy.connections?.answered(easy, at: now) }
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
        if configuration.hasManyHosts { retryWaiting() }
    }

    /// Lets transfers that wait for a connection to one of many hosts try again. Those that make one are counted as well.
    private mutating func retryWaiting() {
        let waiting = open.count { $0.easy.map { $0.connections === connections && $0.sentAt == nil } ?? false }
        guard waiting > 0, let spare = try? handle() else { return }
        multi.retryWaiting(waiting, by: spare)
        handles.giveBack(spare)
    }

    /// Frees handles that are no longer needed after a peak.
    private mutating func closeUnneeded() {
        let unneeded = handles.unneeded(at: clock.now)
        guard !unneeded.isEmpty else { return }
        for easy in unneeded { easy.close() }
        malloc_trim(0)
    }

    private mutating func endLate(_ transfer: Transfer) {
        if let easy = transfer.easy, easy.connections === connections,
            connections.shouldAbandon(for: easy, isTooLate: true, at: clock.now)
        {
            renewConnections()
        }
        abandon(transfer, .timeout, "no answer in time")
    }

    /// Checks at intervals for a connection that has requests and does not answer.
    private mutating func abandonSilentConnections() {
        let now = clock.now
        guard now >= nextSilenceCheck else { return }
        nextSilenceCheck = now + Self.silenceCheck
        connections.forgetOldAnswers(at: now)
        let isSilent = open.contains { transfer in
            guard let easy = transfer.easy, easy.connections === connections else { return false }
            return connections.shouldAbandon(for: easy, isTooLate: false, at: now)
        }
        if isSilent { renewConnections() }
    }

    /// Uses new connections from now on. Sent requests may still be answered until their deadlines.
    private mutating func renewConnections() {
        // Without memory for new ones the old ones stay.
        guard let new = try? ConnectionSet(configuration) else { return }
        let old = connections
        abandoned.append(old)
        connections = new
        hasRenewed = true
        var unsent: [Transfer] = []
        for transfer in open {
            guard let easy = transfer.easy, easy.connections === old, easy.sentAt == nil else { continue }
            release(transfer)
            unsent.append(transfer)
        }
        queue.prepend(contentsOf: unsent)
    }

    /// Closes abandoned connections without transfers.
    private mutating func closeAbandoned() {
        for set in abandoned where set.transfers == 0 { set.multi.close() }
        abandoned.removeAll { $0.transfers == 0 }
    }

    /// Closes all connections. All transfers have ended.
    func close() {
        for set in abandoned { set.multi.close() }
        multi.close()
    }

    private mutating func stop() {
        for transfer in open { abandon(transfer, .stopped, "the relay is stopping") }
        for easy in handles.takeOutAll() { easy.close() }
        isStopped = true
    }

    /// Ends a transfer in any state, unless it has ended.
    private mutating func abandon(_ transfer: Transfer, _ code: TransportError.Code, _ description: String) {
        let hasBeenSent = transfer.easy?.hasBeenSent ?? false
        release(transfer)
        end(transfer, .failure(TransportError(code, description, mayHaveBeenProcessed: hasBeenSent)))
    }

    /// Removes a transfer from libcurl, if it was started.
    private mutating func release(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        easy.connections?.remove(easy)
        transfer.easy = nil
        easy.carried = nil
        handles.giveBack(easy)
    }

    private mutating func end(_ transfer: Transfer, _ outcome: HTTPTransportOutcome) {
        guard let index = transfer.index.take(), let last = open.popLast() else { return }
        if last !== transfer {
            open[index] = last
            last.index = index
        }
        ended += 1
        transfer.end(outcome)
    }
}

/// A pending request. The transport's thread owns it until it has ended.
final class Transfer: @unchecked Sendable {
    let request: HTTPTransportRequest
    /// The outcome, once it has ended.
    fileprivate(set) var outcome: HTTPTransportOutcome?
    /// The handle that carries it; `nil` while it is queued.
    var easy: CurlEasy?
    /// Its index among the thread's open transfers.
    var index: Int?
    /// The group that it belongs to, until it has ended.
    fileprivate var group: TransferGroup?

    fileprivate init(_ request: HTTPTransportRequest) {
        self.request = request
    }

    /// Sets the outcome. Call it once.
    func end(_ outcome: HTTPTransportOutcome) {
        self.outcome = outcome
        group.take()?.oneHasEnded()
    }
}

/// Requests that a task waits for together. The transport's thread owns them from the submission until all have ended. Then the
/// task owns them again, so that it frees the memory that it allocated.
final class TransferGroup: @unchecked Sendable {
    let transfers: [Transfer]
    private var pending: Int
    /// Unsafe, since a checked continuation costs time for each message. It is set to `nil` before it is resumed, so it cannot be resumed
    /// twice.
    private var continuation: UnsafeContinuation<Void, Never>?

    /// - Parameter requests: At least one.
    init(_ requests: [HTTPTransportRequest]) {
        transfers = requests.map(Transfer.init)
        pending = requests.count
    }

    /// Sets the continuation of the waiting task.
    func begin(_ continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
        for transfer in transfers { transfer.group = self }
    }

    fileprivate func oneHasEnded() {
        pending -= 1
        if pending == 0 { continuation.take()?.resume() }
    }

    /// The outcomes in order. All requests must have ended.
    var outcomes: [HTTPTransportOutcome] {
        transfers.map { $0.outcome ?? .failure(TransportError(.other, "the request has no outcome")) }
    }
}

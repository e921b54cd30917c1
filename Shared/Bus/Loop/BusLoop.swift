import CZeroMQ
import Base
import Logging
import Schemas
import Synchronization

/// The loop of the bus thread: work from the work queue, messages from the sockets, tasks, timers.
///
/// Only the bus thread uses it and every participant, so nothing here needs a lock.
final class BusLoop {
    private let workQueue: BusWorkQueue
    private let executor: BusExecutor
    private let context: ZeroMQContext
    private let logger: Logger
    private var participants: [any BusParticipant] = []
    /// The wake-up descriptor and then every participant's sockets, in the order of ``polledSockets``.
    private var pollItems: [zmq_pollitem_t] = []
    private var polledSockets: [(participant: any BusParticipant, socket: Int)] = []
    private var batch: [BusWork] = []
    private var jobs: [UnownedJob] = []

    /// The maximum sleep in milliseconds. It only keeps the conversion to `Int32` from overflowing.
    private static let maxSleep: Milliseconds = 3_600_000

    init(workQueue: BusWorkQueue, executor: BusExecutor, context: ZeroMQContext, logger: Logger) {
        self.workQueue = workQueue
        self.executor = executor
        self.context = context
        self.logger = logger
    }

    func run() {
        executor.begin()
        collectPollItems()
        var hasReceived = false
        while true {
            let mayBeIdle = executor.isIdle && !hasReceived
            let taken = workQueue.take(into: &batch, &jobs, mayBeIdle: mayBeIdle)
            let now = readClocks()
            for work in batch { perform(work, now: now) }
            batch.removeAll(keepingCapacity: true)
            executor.add(jobs)
            jobs.removeAll(keepingCapacity: true)
            runTasks()
            if case .last = taken { break }
            if case .nothing = taken {
                hasReceived = receive(waiting: untilNextTick())
            } else {
                hasReceived = receive(now: now)
            }
            runTasks()
            tick()
        }
        // The gate, which is the first, guards the others until they are closed.
        for participant in participants.reversed() { participant.close() }
        participants = []
        polledSockets = []
        // Tasks continue while ZeroMQ sends the last messages.
        executor.end(workQueue.end())
        context.terminate()
        workQueue.resumeWaiters()
    }

    /// Runs the tasks that are ready, wakes tasks for waiting requests, and sends the results.
    private func runTasks() {
        executor.run()
        for participant in participants {
            while participant.wakeTask() { executor.run() }
        }
        for participant in participants { participant.flush() }
    }

    /// Reads the clocks.
    private func readClocks() -> MonotonicMilliseconds {
        let last = executor.lastReading
        executor.lastReading = .now
        if let pause = executor.watch.detectPause(from: last, to: executor.lastReading) {
            for participant in participants { participant.resume(after: pause, now: executor.lastReading.monotonic) }
        }
        return executor.lastReading.monotonic
    }

    private func perform(_ work: BusWork, now: MonotonicMilliseconds) {
        switch work {
        case .request(let client, let request): client.perform(request, now: now)
        case .cancel(let client, let request): client.cancel(request)
        case .found(let participant, let instances): participant.found(instances)
        case .lookedUp(let connector, let outcome): connector.lookedUp(outcome, now: now)
        case .stopServing(let server): server.stopServing(now: now)
        case .whenDrained(let server, let continuation): server.whenDrained(continuation)
        case .publish(let publisher, let name, let payload): publisher.send(name, payload)
        case .attach(let participant):
            participants.append(participant)
            collectPollItems()
        case .detach(let participant, let done):
            detach(participant)
            done?.resume()
        }
    }

    private func detach(_ participant: any BusParticipant) {
        guard let index = participants.firstIndex(where: { $0 === participant }) else { return }
        participants.remove(at: index)
        participant.close()
        collectPollItems()
    }

    private func collectPollItems() {
        polledSockets = []
        pollItems = [zmq_pollitem_t(socket: nil, fd: workQueue.wakeUp.descriptor, events: Int16(ZMQ_POLLIN), revents: 0)]
        for participant in participants {
            for (index, socket) in participant.sockets.enumerated() where !socket.isClosed {
                polledSockets.append((participant, index))
                pollItems.append(socket.pollItem)
            }
        }
    }

    /// Waits for messages, or a wake-up.
    private func receive(waiting timeout: Milliseconds) -> Bool {
        let ready = pollItems.withUnsafeMutableBufferPointer {
            zmq_poll($0.baseAddress, Int32($0.count), Int(timeout.rawValue))
        }
        guard ready > 0 else {
            if ready < 0, case let fault = ZeroMQFault.last, !fault.isInterruption {
                logger.error("the bus cannot poll its sockets", metadata: ["error": "\(fault)"])
            }
            return false
        }
        if pollItems[0].revents != 0 { workQueue.wakeUp.clear() }
        let now = readClocks()
        var hasReceived = false
        for (polled, item) in zip(polledSockets, pollItems.dropFirst()) where item.revents != 0 {
            if polled.participant.receive(from: polled.socket, now: now) { hasReceived = true }
        }
        return hasReceived
    }

    /// Receives without polling: asking every socket costs less than asking the system which of them is readable.
    private func receive(now: MonotonicMilliseconds) -> Bool {
        var hasReceived = false
        for polled in polledSockets where polled.participant.receive(from: polled.socket, now: now) { hasReceived = true }
        return hasReceived
    }

    private func untilNextTick() -> Milliseconds {
        // Work and tasks have taken time since the last clock reading.
        let now = MonotonicMilliseconds.now()
        let next = participants.lazy.compactMap(\.nextTick).min() ?? .max
        return next <= now ? 0 : min(next - now, Self.maxSleep)
    }

    private func tick() {
        let now = MonotonicMilliseconds.now()
        var haveChanged = false
        for participant in participants where participant.nextTick.map({ $0 <= now }) ?? false {
            participant.tick(now: now)
            if participant.renewSockets(now: now) { haveChanged = true }
        }
        if haveChanged { collectPollItems() }
    }
}

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

/// Detects pauses of the process: it was stopped by a signal, its machine was suspended, or it got no CPU time.
///
/// The age of a request that waited in a socket during a pause is unknown, and its sender may have given up. So such a request must
/// not be begun. The bus thread reads its clocks at least every ``interval`` while it serves. A longer gap is a pause.
final class PauseWatch: Sendable {
    /// The maximum interval between two clock readings of a running thread.
    static let interval: Milliseconds = 500
    /// ``BusTimes/minPause`` as a constant, since it is compared for each request.
    static let minPause: Milliseconds = 1_500

    private let lastLook = Atomic<MonotonicMilliseconds>(.now())
    private let pauses = Atomic<Int>(0)

    /// The number of pauses so far.
    var count: Int { pauses.load(ordering: .acquiring) }

    /// The bus thread has read its clocks.
    ///
    /// - Returns: The pause, if it is long enough to count. A jump of the wall clock ahead, as after a machine's suspension,
    ///   counts as well. A step back does not.
    func detectPause(from last: ClockReading, to now: ClockReading) -> Milliseconds? {
        lastLook.store(now.monotonic, ordering: .relaxed)
        let elapsed = now.monotonic - last.monotonic
        let jump = now.wall - last.wall - elapsed
        guard max(elapsed, jump) >= Self.minPause else { return nil }
        pauses.wrappingAdd(1, ordering: .releasing)
        return max(elapsed, jump)
    }

    /// Whether there was a further pause after the given number, including one that the bus thread has not detected yet.
    func hasPaused(since count: Int, now: MonotonicMilliseconds) -> Bool {
        self.count != count || now - lastLook.load(ordering: .relaxed) >= Self.minPause
    }
}

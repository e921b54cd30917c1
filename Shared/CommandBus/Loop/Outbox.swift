import CZeroMQ
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// The way from others to the bus thread: work, and tasks to go on with, under one lock, and an eventfd that wakes the thread.
///
/// The thread is woken only when it may sleep and the outbox was empty. It takes all work at once, and says that it may
/// sleep in the same critical section in which it found nothing, so that no wake-up is lost and few are needed.
final class Outbox: Sendable {
    private struct State {
        var work: [BusWork] = []
        /// Tasks to go on with on the bus thread.
        var jobs: [UnownedJob] = []
        /// The thread is awake, or has been woken.
        var isAwake = false
        var life = Life.open
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []

        /// Whether the thread has to be woken for what was just added.
        mutating func wake() -> Bool {
            defer { isAwake = true }
            return !isAwake
        }
    }

    private enum Life {
        case open, closing
        /// The thread takes nothing any more.
        case closed
        /// ZeroMQ has sent what there was.
        case over
    }

    /// What the thread finds.
    enum Taken {
        /// There is work now, and more may come without a wake-up: do not sleep.
        case some
        /// Sleep until woken.
        case nothing
        /// This is the last work.
        case last
    }

    private let state = Mutex(State())
    /// Readable when the thread is to wake up.
    let wakeDescriptor: Int32

    init() throws(BusError) {
        wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeDescriptor >= 0 else {
            throw BusError(.system, "cannot make an eventfd: \(ZeroMQFault(number: errno))")
        }
    }

    deinit {
        Glibc.close(wakeDescriptor)
    }

    // MARK: For tasks

    /// Asks the bus thread for something.
    ///
    /// - Returns: Whether it will be done; `false` once the bus is closed.
    func submit(_ work: BusWork) -> Bool {
        let (accepted, wake) = state.withLock { state in
            guard state.life == .open else { return (false, false) }
            state.work.append(work)
            return (true, state.wake())
        }
        if wake { signal() }
        return accepted
    }

    /// Lets the bus thread go on with a task.
    ///
    /// - Returns: Whether it will; `false` once the bus thread has ended.
    func submit(_ job: UnownedJob) -> Bool {
        let (accepted, wake) = state.withLock { state in
            guard state.life == .open || state.life == .closing else { return (false, false) }
            state.jobs.append(job)
            return (true, state.wake())
        }
        if wake { signal() }
        return accepted
    }

    /// Lets the bus thread end, and waits until it has.
    func close() async {
        await withCheckedContinuation { continuation in
            let (ended, wake) = state.withLock { state in
                if state.life == .over { return (true, false) }
                if state.life == .open { state.life = .closing }
                state.waitingForEnd.append(continuation)
                return (false, state.life == .closing && state.wake())
            }
            if wake { signal() }
            if ended { continuation.resume() }
        }
    }

    /// Lets the bus thread end, unless it has.
    func closeUnattended() {
        let wake = state.withLock { state in
            guard state.life == .open else { return false }
            state.life = .closing
            return state.wake()
        }
        if wake { signal() }
    }

    private func signal() {
        // It can fail only when the counter is full, and then the thread is awake.
        eventfd_write(wakeDescriptor, 1)
    }

    // MARK: For the bus thread

    /// Moves all work and all tasks into `batch` and `jobs`, which are empty; their memory serves for what is to come.
    ///
    /// - Parameter mayBeIdle: Whether the thread has nothing else to do.
    func take(into batch: inout [BusWork], _ jobs: inout [UnownedJob], mayBeIdle: Bool) -> Taken {
        state.withLock { state in
            swap(&state.work, &batch)
            swap(&state.jobs, &jobs)
            if state.life == .closing { return .last }
            state.isAwake = !mayBeIdle || !batch.isEmpty || !jobs.isEmpty
            return state.isAwake ? .some : .nothing
        }
    }

    /// Takes back a wake-up.
    func clearSignal() {
        var count: eventfd_t = 0
        eventfd_read(wakeDescriptor, &count)
    }

    /// The thread has closed everything, and takes nothing any more.
    ///
    /// - Returns: The tasks that came after the last were taken.
    func end() -> [UnownedJob] {
        state.withLock { state in
            state.life = .closed
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    /// All is over: says so to whoever closed the bus.
    func tellWhoWaits() {
        let waiting = state.withLock { state in
            state.life = .over
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        waiting.forEach { $0.resume() }
    }
}

import CZeroMQ
import Base
import FoundationEssentials
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Work and jobs for the bus thread from other threads: two arrays under one lock, and a pipe that wakes the thread.
///
/// The thread is woken only if the work queue was empty and the thread may sleep. The thread takes all work at once. It declares
/// that it may sleep in the same critical section in which it found nothing, so no wake-up is lost and few are needed.
final class BusWorkQueue: Sendable {
    private struct State {
        var work: [BusWork] = []
        /// Jobs to run on the bus thread.
        var jobs: [UnownedJob] = []
        /// Whether the thread is awake, or has been woken.
        var isAwake = false
        var life = Life.open
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []

        /// Whether the caller has to wake the thread.
        mutating func wake() -> Bool {
            defer { isAwake = true }
            return !isAwake
        }
    }

    private enum Life {
        case open, closing
        /// The thread takes no more work.
        case closed
        /// ZeroMQ has sent the last messages.
        case over
    }

    /// The result of ``take(into:_:mayBeIdle:)``.
    enum Taken {
        /// There was work, or the thread has other work. More may come without a wake-up: do not sleep.
        case some
        /// Sleep until woken.
        case nothing
        /// This is the last work.
        case last
    }

    private let state = Mutex(State())
    /// Wakes the thread.
    let wakeUp: WakeUp

    init() throws(BusError) {
        wakeUp = try WakeUp.forBus()
    }

    // MARK: For tasks

    /// Submits work to the bus thread.
    ///
    /// - Returns: `false` if the bus is closed. Then the work is not performed.
    func submit(_ work: BusWork) -> Bool {
        let (accepted, wake) = state.withLock { state in
            guard state.life == .open else { return (false, false) }
            state.work.append(work)
            return (true, state.wake())
        }
        if wake { wakeUp.signal() }
        return accepted
    }

    /// Submits a job to the bus thread.
    ///
    /// - Returns: `false` if the bus thread has ended. Then the job does not run.
    func submit(_ job: UnownedJob) -> Bool {
        let (accepted, wake) = state.withLock { state in
            guard state.life == .open || state.life == .closing else { return (false, false) }
            state.jobs.append(job)
            return (true, state.wake())
        }
        if wake { wakeUp.signal() }
        return accepted
    }

    /// Ends the bus thread and waits for its end.
    func close() async {
        await withCheckedContinuation { continuation in
            let (ended, wake) = state.withLock { state in
                if state.life == .over { return (true, false) }
                if state.life == .open { state.life = .closing }
                state.waitingForEnd.append(continuation)
                return (false, state.life == .closing && state.wake())
            }
            if wake { wakeUp.signal() }
            if ended { continuation.resume() }
        }
    }

    /// Ends the bus thread without waiting, unless it has ended already.
    func closeUnattended() {
        let wake = state.withLock { state in
            guard state.life == .open else { return false }
            state.life = .closing
            return state.wake()
        }
        if wake { wakeUp.signal() }
    }

    // MARK: For the bus thread

    /// Swaps all work and all jobs into `batch` and `jobs`, which are empty. Their memory is reused.
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

    /// The thread has closed everything, and takes no more work.
    ///
    /// - Returns: The jobs that came after the last take.
    func end() -> [UnownedJob] {
        state.withLock { state in
            state.life = .closed
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    /// Resumes the tasks that wait for the end of the bus.
    func resumeWaiters() {
        let waiting = state.withLock { state in
            state.life = .over
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        waiting.forEach { $0.resume() }
    }
}

/// Work that tasks submit to the bus thread. It is performed in order.
enum BusWork: Sendable {
    case attach(any BusParticipant)
    case detach(any BusParticipant, done: CheckedContinuation<Void, Never>?)

    case request(ClientSockets, PendingRequest)
    case cancel(ClientSockets, PendingRequest)

    /// The lookup of a name has finished.
    indirect case lookedUp(Connector, NameLookup.Outcome)

    /// The instances of a client's or a subscriber's patterns have changed.
    indirect case found(any BusParticipant, instances: [String])

    /// Accept no more requests, and finish the accepted ones.
    case stopServing(ServerSocket)
    /// Resume once a stopped server has answered all accepted requests.
    case whenDrained(ServerSocket, CheckedContinuation<Void, Never>)

    /// Indirect, to keep the other cases small.
    indirect case publish(PublisherSocket, name: String, payload: Data)
}

extension WakeUp {
    /// - Throws: ``BusError`` if the process has too many open files.
    static func forBus() throws(BusError) -> WakeUp {
        guard let wakeUp = WakeUp() else { throw BusError(.system, "the process has too many open files") }
        return wakeUp
    }
}

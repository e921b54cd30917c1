import DedicatedThread
import Dispatch
import Synchronization

/// Threads for work that blocks, as many as there is work, up to a limit; what comes beyond that waits, up to a limit as well.
///
/// They are started when they are needed and end when this is closed.
final class BlockingThreads: Sendable {
    private struct State {
        var waiting = FirstInFirstOut<@Sendable () -> Void>()
        /// Jobs that are accepted and not in `waiting` yet.
        var entering = 0
        var threads = 0
        /// Threads that wait for work, or are about to.
        var idle = 0
        var isClosing = false
        var whenClosed: [CheckedContinuation<Void, Never>] = []
    }

    private let maxThreads: Int
    private let maxWaiting: Int
    private let state = Mutex(State())
    /// Counts the work that waits; one more for each thread that is to end.
    private let work = DispatchSemaphore(value: 0)

    init(maxThreads: Int, maxWaiting: Int) {
        self.maxThreads = maxThreads
        self.maxWaiting = maxWaiting
    }

    /// Runs a job on one of the threads.
    ///
    /// - Returns: Whether it will be run; not when too many wait, this is closed, or the system starts no thread.
    func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
        let needsThread: Bool? = state.withLock { state in
            guard !state.isClosing, state.waiting.count + state.entering < maxWaiting else { return nil }
            state.entering += 1
            guard state.idle < state.waiting.count + state.entering, state.threads < maxThreads else { return false }
            state.threads += 1
            state.idle += 1
            return true
        }
        guard let needsThread else { return false }
        let threadIsMissing = needsThread && !startThread()
        let isAccepted = state.withLock { state in
            state.entering -= 1
            if threadIsMissing {
                state.threads -= 1
                state.idle -= 1
            }
            // With other threads the work is done, if later.
            guard !state.isClosing, state.threads > 0 else { return false }
            state.waiting.append(job)
            return true
        }
        if isAccepted { work.signal() }
        return isAccepted
    }

    /// Lets the threads end when they have done all work, and waits until they have.
    func close() async {
        await withCheckedContinuation { continuation in
            let threads = state.withLock { state in
                state.isClosing = true
                state.whenClosed.append(continuation)
                return state.threads
            }
            for _ in 0..<threads { work.signal() }
            if threads == 0 { resumeWhenClosed() }
        }
    }

    private func startThread() -> Bool {
        do {
            try DedicatedThread.start { self.run() }
            return true
        } catch {
            return false
        }
    }

    private func run() {
        while true {
            work.wait()
            let job = state.withLock { state in
                let job = state.waiting.popFirst()
                if job != nil { state.idle -= 1 }
                return job
            }
            guard let job else { break }
            job()
            state.withLock { $0.idle += 1 }
        }
        let isLast = state.withLock { state in
            state.threads -= 1
            return state.threads == 0
        }
        if isLast { resumeWhenClosed() }
    }

    private func resumeWhenClosed() {
        let waiting = state.withLock { state in
            defer { state.whenClosed = [] }
            return state.whenClosed
        }
        waiting.forEach { $0.resume() }
    }
}

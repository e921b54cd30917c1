import DequeModule
import Dispatch
import Synchronization

/// A thread pool for blocking work and long computations. The number of threads and the number of waiting jobs are limited.
///
/// Threads are started on demand and end when the pool is closed.
package final class BlockingThreads: Sendable {
    private struct State {
        var waiting: Deque<@Sendable () -> Void> = []
        /// Jobs that are accepted and not in `waiting` yet.
        var entering = 0
        var threads = 0
        /// Threads that wait for work or are about to.
        var idle = 0
        var isClosing = false
        var whenClosed: [CheckedContinuation<Void, Never>] = []
    }

    private let maxThreads: Int
    private let maxWaiting: Int
    private let state = Mutex(State())
    /// Counts the waiting jobs, plus one for each thread that must end.
    private let work = DispatchSemaphore(value: 0)

    package init(maxThreads: Int, maxWaiting: Int) {
        self.maxThreads = maxThreads
        self.maxWaiting = maxWaiting
    }

    /// Runs a job on one of the threads.
    ///
    /// - Returns: `false` if too many jobs wait, the pool is closed, or the system cannot start a thread. Then
    ///   the job does not run.
    package func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
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
            // If there are other threads, one of them runs the job later.
            guard !state.isClosing, state.threads > 0 else { return false }
            state.waiting.append(job)
            return true
        }
        if isAccepted { work.signal() }
        return isAccepted
    }

    /// Waits until the threads have run all jobs and ended.
    package func close() async {
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

import Glibc

/// A thread for work that blocks, beside the threads of Swift concurrency, which must not.
enum DedicatedThread {
    /// Starts a thread that ends when the work does.
    static func start(_ work: @escaping @Sendable () -> Void) throws(TransportError) {
        let context = Unmanaged.passRetained(ThreadWork(work: work))
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, runThreadWork, context.toOpaque())
        guard status == 0 else {
            context.release()
            throw TransportError(.other, "the system starts no thread: error \(status)")
        }
        pthread_detach(thread)
    }
}

private final class ThreadWork: Sendable {
    let work: @Sendable () -> Void

    init(work: @escaping @Sendable () -> Void) {
        self.work = work
    }
}

private nonisolated func runThreadWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let thread = Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue()
    // A peer that closes its end shows in the result of a write; the signal would end the process. libcurl leaves it alone
    // when it is told to use no signals.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    thread.work()
    return nil
}

#if canImport(Glibc)
    import Glibc
#endif

/// A thread for blocking work. The threads of Swift concurrency must not block.
package enum DedicatedThread {
    /// The system cannot start a thread.
    package struct NotStarted: Error, Hashable, Sendable, CustomStringConvertible {
        /// The `errno` of `pthread_create`.
        package let code: Int32

        package var description: String { "the system starts no thread: \(String(cString: strerror(code)))" }
    }

    /// Starts a thread that ends when the work does.
    ///
    /// All signals are blocked on it. Other threads handle them. Without SIGPIPE, a write to a closed socket fails with EPIPE
    /// instead of ending the process.
    package static func start(_ work: sending @escaping () -> Void) throws(NotStarted) {
        let context = Unmanaged.passRetained(ThreadWork(work))
        var thread = pthread_t()
        // A thread inherits the signal mask of its creator.
        var all = sigset_t()
        var former = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        let code = pthread_create(&thread, nil, runThreadWork, context.toOpaque())
        pthread_sigmask(SIG_SETMASK, &former, nil)
        guard code == 0 else {
            context.release()
            throw NotStarted(code: code)
        }
        pthread_detach(thread)
    }
}

private final class ThreadWork {
    let run: () -> Void

    init(_ run: @escaping () -> Void) {
        self.run = run
    }
}

/// A free function, so that the C callback has no actor isolation.
private func runThreadWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}

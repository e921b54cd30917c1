#if canImport(Glibc)
    import Glibc
#endif

/// A thread for work that blocks, beside the threads of Swift concurrency, which must not.
package enum DedicatedThread {
    /// The system starts no thread.
    package struct NotStarted: Error, Hashable, Sendable, CustomStringConvertible {
        /// The `errno` of `pthread_create`.
        package let code: Int32

        package var description: String { "the system starts no thread: \(String(cString: strerror(code)))" }
    }

    /// Starts a thread that ends when the work does.
    ///
    /// No signal is delivered to it: they are for others, and a peer that closes its end of a socket shows in the result of a
    /// write, where SIGPIPE would end the process.
    package static func start(_ work: sending @escaping () -> Void) throws(NotStarted) {
        let context = Unmanaged.passRetained(ThreadWork(work))
        var thread = pthread_t()
        // The thread begins with the signal mask of the one that makes it.
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

/// A free function, so that nothing gives the C callback an actor's isolation.
private func runThreadWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}

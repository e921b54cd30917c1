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
        var callersMask = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &callersMask)
        let code = pthread_create(&thread, nil, runThreadWork, context.toOpaque())
        pthread_sigmask(SIG_SETMASK, &callersMask, nil)
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

/// Lets a thread wait for a signal from others, for a limited time. Several signals before it runs count as one.
///
/// Not `DispatchSemaphore`: on Linux its limit becomes a time of the system clock. If that clock is set back by an hour, the wait is an
/// hour longer.
package final class WakeUp: Sendable {
    /// Readable while there is a signal, for a thread that waits for other things as well.
    package var descriptor: Int32 { reader }

    private let reader: Int32
    private let writer: Int32

    /// - Returns: `nil` if the process has too many open files.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Ends the present wait, or the next one.
    package func signal() {
        // A full pipe has signals enough.
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    /// Takes the signals.
    package func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reader, &bytes, bytes.count) == bytes.count {}
    }

    /// Waits on one thread for a signal, and takes it.
    ///
    /// - Returns: Whether there was one.
    package func wait(for limit: Duration) -> Bool {
        // Rounded up, so that the wait does not end just before the moment that is waited for.
        let milliseconds = max(0, Int64((limit / .milliseconds(1)).rounded(.up)))
        var descriptor = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, Int32(clamping: milliseconds)) == 1 else { return false }
        clear()
        return true
    }
}

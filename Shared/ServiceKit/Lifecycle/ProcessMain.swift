import Dispatch
import Glibc

/// The start of every executable's `main`. That `main` is synchronous, because an asynchronous one starts after libdispatch has
/// opened descriptors.
package enum ProcessMain {
    /// Prepares the process, runs `main`, and exits with status 0.
    ///
    /// Standard descriptors that the parent has closed are opened as `/dev/null`. Otherwise a database or a socket could become
    /// descriptor 2 and receive the log. SIGPIPE is ignored: a write to a closed pipe or socket fails with EPIPE instead of
    /// ending the process.
    ///
    /// - Parameter makesPrivateFiles: Whether only the process's own user can use files, folders and sockets that it creates.
    package static func run(makesPrivateFiles: Bool, _ main: @escaping @Sendable () async -> Void) -> Never {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // `open` returns the lowest free descriptor, which is this one.
            _ = open("/dev/null", O_RDWR)
        }
        signal(SIGPIPE, SIG_IGN)
        if makesPrivateFiles { umask(0o077) }
        // By default a task of the main thread has a higher priority. For root's processes libdispatch turns that into a nice value of -2,
        // which the services would inherit from `msi up`.
        Task(priority: .medium) {
            await main()
            exit(0)
        }
        dispatchMain()
    }
}

import Dispatch
import Glibc

/// The beginning of every executable's `main`, which is synchronous for it: an asynchronous one starts after libdispatch has
/// opened descriptors of its own.
package enum ProcessMain {
    /// Prepares the process, runs what it is for, and ends it with status 0.
    ///
    /// Standard descriptors that the parent has closed are opened as `/dev/null`: otherwise a database or a socket could become
    /// descriptor 2 and receive the log. SIGPIPE is ignored: a write to a closed pipe or socket fails with EPIPE and does not end
    /// the process.
    ///
    /// - Parameter makesPrivateFiles: Whether files, folders and sockets that the process makes are for its own user alone.
    package static func run(makesPrivateFiles: Bool, _ main: @escaping @Sendable () async -> Void) -> Never {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free descriptor is this one.
            _ = open("/dev/null", O_RDWR)
        }
        signal(SIGPIPE, SIG_IGN)
        if makesPrivateFiles { umask(0o077) }
        Task {
            await main()
            exit(0)
        }
        dispatchMain()
    }
}

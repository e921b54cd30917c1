import Base
import Dispatch
import Glibc
import Logging
import ServiceLifecycle

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

/// The process's limit of open descriptors.
enum DescriptorLimit {
    /// More than connections without a key can take at the bus's TCP ports: libzmq accepts fewer than 50,000 a second, and closes each
    /// after three seconds. It also bounds loops that close all possible descriptors.
    private static let maxNeeded: rlim_t = 262_144

    /// Raises the limit as far as the system allows. Debian's default of 1,024 is for programs that use select(2).
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, maxNeeded)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        // If the system refuses, the limit is unchanged.
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// Ends when standard input does. The supervisor holds the other end, so no service outlives it.
///
/// A thread waits for the end until the process exits. A dispatch source would crash: when the other end of a pipe is closed,
/// libdispatch's `epoll` loop may use a freed source.
struct SupervisorWatch: Service {
    let logger: Logger

    func run() async throws {
        let ended = AsyncStream<Void>.makeStream()
        try DedicatedThread.start {
            Self.waitForEnd(of: STDIN_FILENO)
            ended.continuation.finish()
        }
        await cancelWhenGracefulShutdown {
            for await _ in ended.stream {}
            if !Task.isCancelled { logger.notice("standard input has ended: the supervisor is gone") }
        }
    }

    /// Reads a descriptor to its end. The bytes are ignored.
    private static func waitForEnd(of descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            if poll(&entry, 1, -1) < 0 {
                if errno == EINTR { continue }
                return
            }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN)) else { return }
        }
    }
}

/// Tells the two meanings of SIGHUP apart: the terminal that the process was started on is gone, or somebody asks for a reload.
package struct TerminalWatch: Sendable {
    private let hadTerminal = TerminalWatch.hasTerminal

    package init() {}

    /// Whether the process had a terminal and has lost it. The kernel fails every operation on a terminal that was hung up.
    package var isGone: Bool { hadTerminal && !Self.hasTerminal }

    private static var hasTerminal: Bool {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { isatty($0) == 1 }
    }
}

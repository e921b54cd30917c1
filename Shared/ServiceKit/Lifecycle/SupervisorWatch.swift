import DedicatedThread
import Glibc
import Logging
import ServiceLifecycle

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

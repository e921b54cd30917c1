import Dispatch
import Glibc
import ServiceLifecycle

/// Ends when standard input does: the supervisor holds the other end, so that no service outlives it.
struct Lifeline: Service {
    func run() async throws {
        let ended = AsyncStream<Void>.makeStream()
        let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        source.setEventHandler {
            var byte: UInt8 = 0
            // Whatever is written there means nothing; its end does.
            if read(STDIN_FILENO, &byte, 1) == 0 { ended.continuation.finish() }
        }
        source.activate()
        defer { source.cancel() }
        await cancelWhenGracefulShutdown {
            for await _ in ended.stream {}
        }
    }
}

import Synchronization

/// Streams of the same elements, one for each caller.
final class Watchers<Element: Sendable>: Sendable {
    private let streams = Mutex<(last: Int, open: [Int: AsyncStream<Element>.Continuation])>((0, [:]))

    /// The elements from now on.
    ///
    /// - Parameter policy: What is kept while the caller does something else.
    func stream(_ policy: AsyncStream<Element>.Continuation.BufferingPolicy) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
        let id = streams.withLock { streams in
            streams.last += 1
            streams.open[streams.last] = continuation
            return streams.last
        }
        continuation.onTermination = { [weak self] _ in self?.streams.withLock { $0.open[id] = nil } }
        return stream
    }

    func tell(_ element: Element) {
        for stream in streams.withLock({ Array($0.open.values) }) { stream.yield(element) }
    }
}

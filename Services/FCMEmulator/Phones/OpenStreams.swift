import Synchronization

/// The open event streams. A new message wakes only the streams of its recipients.
///
/// A wake-up is only a hint: the stream reads its messages from the store. A superfluous wake-up costs one query, but none may be
/// missed. So subscription changes are reported here after their commit, and a stream is listed before its first query.
final class OpenStreams: Sendable {
    /// Wakes one open stream. Several wake-ups before it runs count as one.
    struct Waker: Sendable {
        let signals: AsyncStream<Void>
        fileprivate let continuation: AsyncStream<Void>.Continuation

        init() {
            (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        func wake() { continuation.yield() }

        /// Ends the stream.
        func finish() { continuation.finish() }
    }

    private struct State {
        var nextID = 0
        var wakers: [Int64: [Int: Waker]] = [:]
        var devices: [String: Set<Int64>] = [:]
        var topics: [Int64: Set<String>] = [:]

        mutating func subscribe(_ device: Int64, to topic: String) {
            devices[topic, default: []].insert(device)
            topics[device, default: []].insert(topic)
        }

        mutating func unsubscribe(_ device: Int64, from topic: String) {
            topics[device]?.remove(topic)
            devices[topic]?.remove(device)
            if devices[topic]?.isEmpty == true { devices[topic] = nil }
        }

        mutating func remove(_ device: Int64) {
            for topic in topics[device] ?? [] { unsubscribe(device, from: topic) }
            topics[device] = nil
            wakers[device] = nil
        }
    }

    private let state = Mutex(State())

    /// Lists a phone's stream.
    ///
    /// - Returns: The id for ``close(_:of:)``.
    func open(_ waker: Waker, of device: Int64) -> Int {
        state.withLock { state in
            state.nextID += 1
            state.wakers[device, default: [:]][state.nextID] = waker
            return state.nextID
        }
    }

    func close(_ id: Int, of device: Int64) {
        state.withLock { state in
            state.wakers[device]?[id] = nil
            if state.wakers[device]?.isEmpty == true { state.remove(device) }
        }
    }

    /// Notes a phone's subscriptions, if it has a stream.
    func subscribe(_ device: Int64, to topics: some Sequence<String>) {
        state.withLock { state in
            guard state.wakers[device] != nil else { return }
            for topic in topics { state.subscribe(device, to: topic) }
        }
    }

    /// Wakes the streams of a message's recipients.
    func wake(_ recipients: EmulatorStore.Recipients) {
        let wakers = state.withLock { state -> [Waker] in
            switch recipients {
            case .topic(let topic): (state.devices[topic] ?? []).flatMap { state.wakers[$0].map { Array($0.values) } ?? [] }
            case .devices(let devices): devices.flatMap { state.wakers[$0].map { Array($0.values) } ?? [] }
            }
        }
        for waker in wakers { waker.wake() }
    }

    /// How many streams are open.
    var count: Int {
        state.withLock { $0.wakers.values.reduce(0) { $0 + $1.count } }
    }
}

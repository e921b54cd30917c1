import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Many clients of a stream of server-sent events, one for each bearer token, that count the events of a name. For tests and benchmarks with
/// more streams than an ``EventStreamClient`` for each could have.
package final class StreamCrowd: Sendable {
    private struct State {
        var open = 0
        /// By the number of the token: how many events its stream had, and when the last one came.
        var received: [Int: (count: Int, last: ContinuousClock.Instant)] = [:]
        var refused: Set<Int> = []
    }

    private let line: [UInt8]
    private let state = Mutex(State())

    private init(counting event: String) {
        line = Array("event: \(event)".utf8)
    }

    /// The number of streams that have begun.
    package var open: Int { state.withLock(\.open) }
    /// The statuses other than 200.
    package var refused: Set<Int> { state.withLock(\.refused) }
    /// The number of events on all streams.
    package var total: Int { state.withLock { $0.received.values.reduce(0) { $0 + $1.count } } }

    /// The events on the stream of a token, and when the last one came; `nil` for none.
    package func received(by number: Int) -> (count: Int, last: ContinuousClock.Instant)? {
        state.withLock { $0.received[number] }
    }

    /// Runs a body while all streams are open.
    ///
    /// - Parameter event: The name of the events that are counted.
    package static func with<Value: Sendable>(
        _ url: String, tokens: [String], counting event: String, isolation: isolated (any Actor)? = #isolation,
        _ body: (StreamCrowd) async throws -> Value
    ) async throws -> Value {
        let crowd = StreamCrowd(counting: event)
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = tokens.count
        // They are opened all at once.
        configuration.timeout.connect = .seconds(60)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let listening = Task {
            await withDiscardingTaskGroup { group in
                for (number, token) in tokens.enumerated() {
                    group.addTask { await crowd.listen(url, token, as: number, http) }
                }
            }
        }
        return try await perform {
            try await eventually("all streams") { crowd.open + crowd.refused.count >= tokens.count || !crowd.refused.isEmpty }
            return try await body(crowd)
        } finally: {
            listening.cancel()
            await listening.value
            try await http.shutdown()
        }
    }

    /// Reads a stream until the task is cancelled, or the stream ends.
    private func listen(_ url: String, _ token: String, as number: Int, _ http: HTTPClient) async {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        do {
            let response = try await http.execute(request, deadline: .distantFuture)
            guard response.status == .ok else {
                state.withLock { _ = $0.refused.insert(Int(response.status.code)) }
                return
            }
            var (isOpen, read) = (false, [UInt8]())
            for try await bytes in response.body {
                if !isOpen {
                    isOpen = true
                    state.withLock { $0.open += 1 }
                }
                for byte in bytes.readableBytesView {
                    guard byte == UInt8(ascii: "\n") else {
                        read.append(byte)
                        continue
                    }
                    if read == line { count(number) }
                    read.removeAll(keepingCapacity: true)
                }
            }
        } catch {
            // The connection has ended.
        }
    }

    private func count(_ number: Int) {
        let now = ContinuousClock.now
        state.withLock { $0.received[number] = (($0.received[number]?.count ?? 0) + 1, now) }
    }
}

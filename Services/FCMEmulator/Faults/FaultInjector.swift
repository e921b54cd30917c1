import HTTPTypes
import Hummingbird
import NIOCore
import Schemas
import ServiceLifecycle

/// Processes requests with the faults that are planned for them.
struct FaultInjector: Sendable {
    let plan: Adjustable<FaultPlan>

    /// Processes one request, or lets it fail.
    ///
    /// - Parameters:
    ///   - subject: The properties of the request by which faults are chosen.
    ///   - refuse: Makes an injected error in the endpoint's own form; `nil` if it has none.
    ///   - work: Processes the request. A response that it throws, instead of returning it, is never lost or delayed.
    /// - Returns: The answer; `nil` if there is none because the connection or stream is gone.
    func perform(
        _ operation: Operation, _ subject: FaultRule.Subject, refuse: (FaultAnswer) -> Response? = { _ in nil },
        _ work: () async throws -> Response
    ) async throws -> Response? {
        let incident = plan.withLock { $0.isEmpty ? nil : $0.next(operation, subject) }
        guard let incident else { return await isTaken() ? try await work() : nil }
        if let delay = incident.delay, !(try await Self.pause(delay)) { throw GoogleError.stopping }
        guard var response = try await answer(to: operation, subject, incident.fault, refuse, work) else { return nil }
        // A processed request is always answered; a little early if the server stops.
        if let delay = incident.replyDelay { _ = try await Self.pause(delay) }
        if let time = incident.bodyTime { response.body = response.body.sentSlowly(within: time) }
        return response
    }

    private func answer(
        to operation: Operation, _ subject: FaultRule.Subject, _ fault: Fault?, _ refuse: (FaultAnswer) -> Response?,
        _ work: () async throws -> Response
    ) async throws -> Response? {
        // This comes before anything else that could end the connection: the GOAWAY says whether this request was processed.
        if case .goAwayUndone(let reason) = fault {
            await Exchange.current?.goAwayUntaken(because: reason)
            return nil
        }
        guard await isTaken() else { return nil }
        switch fault {
        case .answer(let answer):
            return refuse(answer) ?? answer.response(to: operation, subject, now: .now())
        case .breakOff(let end):
            await Exchange.current?.end(by: end)
            return nil
        case .loseReply(let end):
            _ = try await work()
            await Exchange.current?.end(by: end)
            return nil
        case .goAway(let reason):
            await Exchange.current?.goAway(because: reason)
            var response = try await work()
            // HTTP/1.1 has no GOAWAY but this header.
            if Exchange.current?.stream == nil { response.headers[.connection] = "close" }
            return response
        case nil, .delay, .delayReply, .slowBody, .goAwayUndone:
            return try await work()
        }
    }

    /// Whether the request may be processed. A GOAWAY that was sent since then may exclude it.
    private func isTaken() async -> Bool {
        await Exchange.current?.take() ?? true
    }

    /// Waits, but at most about a second longer than the server runs.
    ///
    /// - Returns: Whether it waited the full time.
    private static func pause(_ duration: Duration) async throws -> Bool {
        // A load test has many short waits. They are not interruptible, which makes them cheaper.
        guard duration <= .seconds(1) else { return try await InterruptiblePause.wait(duration) }
        try await Task.sleep(for: duration)
        return true
    }
}

extension GoogleError {
    /// For a request that was delayed until the server stopped, and is not processed.
    fileprivate static let stopping = GoogleError.fcm(.unavailable, "The service is currently unavailable.")
}

extension Exchange {
    fileprivate func end(by end: Fault.Break) async {
        switch end {
        case .resetStream(let code): await resetStream(code)
        case .closeConnection: await closeConnection()
        case .cutConnection: await cutConnection()
        }
    }
}

extension Response {
    /// A placeholder for the server when the client can no longer be answered.
    static let unanswerable = Response(status: .internalServerError)
}

extension ResponseBody {
    private static let pieces = 20

    /// The same body, sent in small pieces. The last one leaves after the given time, however long the body is.
    func sentSlowly(within time: Duration) -> ResponseBody {
        ResponseBody(contentLength: contentLength) { [contentLength] writer in
            try await write(SlowBodyWriter(base: writer, time: time, length: contentLength, pieces: Self.pieces))
        }
    }
}

/// Splits its input into pieces and pauses before each, for the piece's share of the time. Once the server stops, it no longer
/// pauses.
private struct SlowBodyWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    let time: Duration
    /// The body's bytes; `nil` if unknown. Then each write takes the whole time.
    let length: Int?
    let pieces: Int
    private var isStopping = false

    init(base: any ResponseBodyWriter, time: Duration, length: Int?, pieces: Int) {
        self.base = base
        self.time = time
        self.length = length
        self.pieces = pieces
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        let whole = max(length ?? buffer.readableBytes, 1)
        let size = max(1, (whole + pieces - 1) / pieces)
        while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
            let pause = time * (Double(piece.readableBytes) / Double(whole))
            if !isStopping { isStopping = !(try await InterruptiblePause.wait(pause)) }
            try await base.write(piece)
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await base.finish(trailingHeaders)
    }
}

/// A wait that ends early when the server stops. The server gives requests in progress one second.
enum InterruptiblePause {
    /// - Returns: Whether it waited the full time.
    /// - Throws: `CancellationError` if the task is cancelled.
    static func wait(_ duration: Duration) async throws -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
            return true
        } catch is CancellationError where !Task.isCancelled {
            return false
        }
    }
}

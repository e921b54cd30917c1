import HTTPTypes
import NIOCore
import NIOHTTP1

/// Decides when a connection is closed: after a response if the request or the response says `Connection: close`, or if the response
/// was written before the end of the request. In that case the rest of the body is not read. Pure.
///
/// When the gateway stops, each further response says `Connection: close`, and an idle connection is closed a moment later: its
/// client may just be sending a request, which would otherwise get no answer.
///
/// If both directions were closed at once, a client that is still sending would get a reset and lose the response. So the sending
/// direction is closed first. Arriving bytes are dropped until the client closes, within limits of time and size.
struct ConnectionClosing {
    /// What happens to the connection after a response.
    enum End {
        case stays
        /// It is closed a moment later unless a request comes: the gateway began to stop after the response's head was written.
        case closesIfIdle
        case closes
    }

    /// What becomes of a request that cannot be read.
    enum Unreadable {
        /// It gets an answer, the last one.
        case answered
        /// An earlier request has no answer yet, which goes first.
        case reported
        /// It comes after the last answer.
        case dropped
    }

    /// How long the client may still send.
    let timeout: TimeAmount
    /// How long an idle connection stays open when the gateway stops.
    let stopGrace: TimeAmount
    private(set) var isClosing = false
    /// Whether the last request has begun and not ended.
    private var isReadingRequest = false
    /// Whether the last request says `Connection: close`.
    private var isLastRequest = false
    /// Requests that have begun and whose responses have not ended.
    private var unanswered = 0
    private var closesAfterResponse = false
    private var isStopping = false
    /// Bytes of heads and bodies that have arrived while closing.
    private var dropped = 0

    /// The maximum number of bytes that are dropped before reading stops.
    private static let maxDropped = 1_024 * 1_024

    init(_ timeouts: ConnectionTimeouts) {
        timeout = timeouts.closing
        stopGrace = timeouts.stopping
    }

    /// Whether more bytes may be read.
    var mayRead: Bool { dropped < Self.maxDropped }

    var unreadable: Unreadable { isClosing ? .dropped : unanswered == 0 ? .answered : .reported }

    // MARK: Requests

    /// - Returns: Whether a request counts.
    mutating func accepts(_ head: HTTPRequestHead) -> Bool {
        if isClosing { dropped += head.size }
        return !isClosing
    }

    /// A request that counts has begun.
    ///
    /// - Parameter isLast: Whether it says `Connection: close`.
    mutating func requestBegan(isLast: Bool) {
        isReadingRequest = true
        isLastRequest = isLast
        unanswered += 1
    }

    /// - Returns: Whether a part of a body counts.
    mutating func accepts(_ bytes: ByteBuffer) -> Bool {
        if isClosing { dropped += bytes.readableBytes }
        return !isClosing
    }

    /// - Returns: Whether the end counts.
    mutating func requestEnded() -> Bool {
        guard !isClosing else { return false }
        isReadingRequest = false
        return true
    }

    // MARK: Responses

    /// - Returns: Whether the connection is closed after the response.
    mutating func answerStarted(_ head: HTTPResponse) -> Bool {
        closesAfterResponse =
            unanswered <= 1 && (isReadingRequest || isLastRequest || isStopping) || head.headerFields.saysClose
        return closesAfterResponse
    }

    /// Begins to close if the response was the last one.
    mutating func answerEnded() -> End {
        unanswered -= 1
        guard closesAfterResponse else { return isStopping ? .closesIfIdle : .stays }
        isClosing = true
        return .closes
    }

    // MARK: The end of the gateway

    mutating func stop() {
        isStopping = true
    }

    /// Begins to close unless a request has come.
    ///
    /// - Returns: Whether it did.
    mutating func closeIfIdle() -> Bool {
        guard !isClosing, unanswered == 0 else { return false }
        isClosing = true
        return true
    }
}

extension HTTPRequestHead {
    /// Its size in bytes, without the version.
    fileprivate var size: Int {
        headers.reduce(method.rawValue.utf8.count + uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }
}

extension HTTPFields {
    fileprivate var saysClose: Bool { contains(.connection) && self[.connection] == "close" }
}

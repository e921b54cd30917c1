import FoundationEssentials
import Base
import Schemas

/// The routing information for a reply.
struct ReplyEnvelope: Sendable {
    /// The connection's routing id, from the ROUTER.
    var peer: Data
    /// Frames before the delimiter, such as the number of a REQ socket with `ZMQ_REQ_CORRELATE`.
    var prefix: [Data] = []
    /// Whether there was an empty frame before the header, as REQ sockets send it.
    var hasDelimiter = false
}

/// One received message, parsed into its parts.
struct RequestMessage {
    enum Content {
        case request(header: ReceivedHeader, payload: Data)
        /// The problem, and the header, if there is one, for its id.
        case malformed(header: ReceivedHeader?, reason: String)
        /// A header or a payload is above its limit. The fields are those of the previous case.
        case tooLarge(header: ReceivedHeader?, reason: String)
    }

    let envelope: ReplyEnvelope
    let content: Content

    /// The maximum number of frames of a message that are kept: a routing id, a short envelope, a delimiter, a header, a payload.
    static let maxFrames = 8
    /// The maximum size of an envelope's frame, in bytes, as for a routing id.
    static let maxEnvelopeFrame = 255

    /// One frame: its bytes, or only its size if it is too long.
    enum Frame {
        case bytes(Data)
        case tooLong(Int)

        var size: Int {
            switch self {
            case .bytes(let data): data.count
            case .tooLong(let size): size
            }
        }

        var isEmpty: Bool { size == 0 }
    }

    /// Fast path: the common form of exactly two frames within the limits.
    init(peer: Data, header: [UInt8], payload: Data) {
        envelope = ReplyEnvelope(peer: peer)
        content = .request(header: header.withUnsafeBytes { ReceivedHeader($0) }, payload: payload)
    }

    /// - Parameters:
    ///   - peer: The routing id.
    ///   - frames: The frames after it, up to ``maxFrames``.
    ///   - count: The real number of frames after it.
    init(peer: Data, frames: [Frame], count: Int, limits: ServerLimits) {
        var envelope = ReplyEnvelope(peer: peer)
        var body = frames[...]
        // Two frames are a header and a payload, even if the payload is empty. Otherwise the first empty frame is the delimiter.
        let isBare = count == 2 && !frames[0].isEmpty
        if !isBare, let delimiter = frames.firstIndex(where: \.isEmpty), let prefix = Self.prefix(frames[..<delimiter]) {
            envelope.hasDelimiter = true
            envelope.prefix = prefix
            body = frames[(delimiter + 1)...]
        }
        let bodyCount = count - (frames.count - body.count)
        self.envelope = envelope
        content = Self.content(of: Array(body), count: bodyCount, limits: limits)
    }

    private static func prefix(_ frames: ArraySlice<Frame>) -> [Data]? {
        var prefix: [Data] = []
        for frame in frames {
            guard case .bytes(let bytes) = frame, bytes.count <= maxEnvelopeFrame else { return nil }
            prefix.append(bytes)
        }
        return prefix
    }

    private static func content(of body: [Frame], count: Int, limits: ServerLimits) -> Content {
        guard count == 2, body.count == 2 else {
            return .malformed(header: nil, reason: "expected two frames, a header and a payload, found \(count)")
        }
        guard case .bytes(let header) = body[0], header.count <= limits.maxHeaderBytes else {
            return .tooLarge(header: nil, reason: "the header has more than \(limits.maxHeaderBytes) bytes")
        }
        let received = header.withUnsafeBytes { ReceivedHeader($0) }
        if case .bytes(let payload) = body[1], payload.count <= limits.maxPayloadBytes {
            return .request(header: received, payload: payload)
        }
        return .tooLarge(
            header: received,
            reason: "the payload has \(body[1].size) bytes, at most \(limits.maxPayloadBytes) are allowed")
    }
}

/// A request that a server has accepted. It is answered exactly once.
final class AcceptedRequest: Sendable {
    /// Routes the reply to the sender.
    let envelope: ReplyEnvelope
    let header: ReceivedHeader
    let payload: Data
    let arrival: RequestArrival

    init(envelope: ReplyEnvelope, header: ReceivedHeader, payload: Data, arrival: RequestArrival) {
        self.envelope = envelope
        self.header = header
        self.payload = payload
        self.arrival = arrival
    }
}

/// Receives requests from a ROUTER, frame by frame.
struct RequestReceiver {
    private let limits: ServerLimits
    /// A reusable buffer for headers.
    private var header: [UInt8] = []

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// The next message, if there is one.
    mutating func next(from socket: ZeroMQSocket) -> RequestMessage? {
        var more = true
        let peer = socket.receive { bytes, hasMore in
            more = hasMore
            return Data(bytes)
        }
        guard let peer else { return nil }
        var frames: [RequestMessage.Frame] = []
        if more, let first = receiveHeader(from: socket, &more) {
            let second = more ? receiveFrame(from: socket, &more) : nil
            if first <= limits.maxHeaderBytes, first > 0, !more, case .bytes(let payload) = second,
                payload.count <= limits.maxPayloadBytes
            {
                return RequestMessage(peer: peer, header: header, payload: payload)
            }
            frames.append(first <= limits.maxHeaderBytes ? .bytes(Data(header)) : .tooLong(first))
            if let second { frames.append(second) }
        }
        var count = frames.count
        while more, let frame = receiveFrame(from: socket, &more) {
            if count < RequestMessage.maxFrames { frames.append(frame) }
            count += 1
        }
        return RequestMessage(peer: peer, frames: frames, count: count, limits: limits)
    }

    /// Receives a header frame into `header`, unless it is too long.
    ///
    /// - Returns: How many bytes the frame has.
    private mutating func receiveHeader(from socket: ZeroMQSocket, _ more: inout Bool) -> Int? {
        header.removeAll(keepingCapacity: true)
        return socket.receive { bytes, hasMore in
            more = hasMore
            if bytes.count <= limits.maxHeaderBytes { header.append(contentsOf: bytes) }
            return bytes.count
        }
    }

    private func receiveFrame(from socket: ZeroMQSocket, _ more: inout Bool) -> RequestMessage.Frame? {
        let longest = max(limits.maxHeaderBytes, limits.maxPayloadBytes)
        return socket.receive { bytes, hasMore in
            more = hasMore
            return bytes.count <= longest ? .bytes(Data(bytes)) : RequestMessage.Frame.tooLong(bytes.count)
        }
    }
}

/// A received request header. A header of the common form is decoded at once, which is cheaper than keeping its bytes.
enum ReceivedHeader: Sendable {
    case plain(SharedHeader)
    case other([UInt8])

    init(_ bytes: UnsafeRawBufferPointer) {
        if let header = RequestHeader(plain: bytes) {
            self = .plain(SharedHeader(header))
        } else {
            self = .other([UInt8](bytes))
        }
    }

    /// - Throws: ``SchemaViolation``.
    func read() throws -> SharedHeader {
        switch self {
        case .plain(let header): header
        case .other(let bytes): SharedHeader(try JSONCoder.decodeStrictly(from: Data(bytes)))
        }
    }

    /// The id for the reply; empty if it cannot be read.
    var id: String {
        switch self {
        case .plain(let header): header.fields.id
        case .other(let bytes): (try? read().fields.id) ?? RequestHeader.readableID(in: bytes)
        }
    }
}

/// A request's header on the heap. It is passed along so often that copies would cost more than the allocation.
final class SharedHeader: Sendable {
    let fields: RequestHeader

    init(_ fields: RequestHeader) {
        self.fields = fields
    }
}

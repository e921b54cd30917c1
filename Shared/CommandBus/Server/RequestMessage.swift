import FoundationEssentials

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
        /// The same for a header or a payload above its limit.
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

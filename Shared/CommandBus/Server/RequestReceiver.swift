import FoundationEssentials

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

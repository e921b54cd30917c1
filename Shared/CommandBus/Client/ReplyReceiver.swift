import FoundationEssentials
import JSON
import Schemas

/// Receives the replies to one client.
struct ReplyReceiver {
    enum Reply {
        /// The id is `nil` if this client did not issue it.
        case understood(id: UInt64?, ReplyStatus, Data)
        case malformed
    }

    let ids: RequestIDFormat

    /// The next reply, if there is one.
    func next(from dealer: ZeroMQSocket) -> Reply? {
        var more = true
        let header = dealer.receive { bytes, hasMore in
            more = hasMore
            return readHeader(bytes)
        }
        guard let header else { return nil }
        var payload: Data?
        var frames = 1
        while more {
            let frame = dealer.receive { bytes, hasMore in
                more = hasMore
                return frames == 1 ? Data(bytes) : Data()
            }
            guard let frame else { break }
            if frames == 1 { payload = frame }
            frames += 1
        }
        guard let header, let payload, frames == 2 else { return .malformed }
        return .understood(id: header.id, header.status, payload)
    }

    private func readHeader(_ bytes: UnsafeRawBufferPointer) -> (id: UInt64?, status: ReplyStatus)? {
        if let id = ids.number(ofSuccess: bytes) { return (id, .ok) }
        // The details of the error are of no use here.
        guard let header = try? JSONCoder.decode(ReplyHeader.self, from: bytes) else { return nil }
        return (ids.number(header.id), header.status)
    }
}

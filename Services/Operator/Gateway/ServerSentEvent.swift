/// An event of a stream of server-sent events (HTML Living Standard, "Server-sent events").
struct ServerSentEvent: Hashable, Sendable {
    let name: String
    let data: String
}

/// Reads a stream of server-sent events, whose pieces end anywhere.
struct EventStreamParser: Sendable {
    /// The last position that the stream has told.
    private(set) var lastID: String?
    private var unread: [UInt8] = []
    private var name = ""
    private var data: [String] = []

    /// Whether the line is too long, and is dropped.
    private var isTooLong = false

    /// Far more than an event needs.
    private static let maxLineBytes = 1 << 20

    mutating func receive(_ bytes: some Sequence<UInt8>, _ handle: (ServerSentEvent) -> Void) {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                isTooLong = unread.count == Self.maxLineBytes
                if !isTooLong { unread.append(byte) }
                continue
            }
            if unread.last == UInt8(ascii: "\r") { unread.removeLast() }
            if !isTooLong { receive(line: String(decoding: unread, as: UTF8.self), handle) }
            unread.removeAll(keepingCapacity: true)
            isTooLong = false
        }
    }

    private mutating func receive(line: String, _ handle: (ServerSentEvent) -> Void) {
        guard !line.isEmpty else {
            if !data.isEmpty {
                handle(ServerSentEvent(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n")))
            }
            (name, data) = ("", [])
            return
        }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1].first == " " ? parts[1].dropFirst() : parts[1]) : ""
        switch parts[0] {
        case "event": name = value
        case "data": data.append(value)
        case "id": lastID = value
        // A comment, or a field for browsers.
        default: break
        }
    }
}

package import NIOCore

/// A server-sent event (HTML Living Standard, "Server-sent events"). The packages that the product uses neither read nor write them.
package struct ServerSentEvent: Hashable, Sendable {
    package static let contentType = "text/event-stream"

    package let name: String
    package let data: String
    /// The stream's last id; `nil` if it had none.
    package let id: String?

    package init(name: String, data: String, id: String? = nil) {
        self.name = name
        self.data = data
        self.id = id
    }
}

extension ByteBuffer {
    /// Writes an event.
    ///
    /// - Parameters:
    ///   - name: `nil` for the default, `message`.
    ///   - id: The event's id; `nil` for none.
    ///   - data: JSON on one line.
    package mutating func write(event name: String? = nil, id: String? = nil, data: some Sequence<UInt8>) {
        if let id { writeString("id: \(id)\n") }
        if let name { writeString("event: \(name)\n") }
        writeString("data: ")
        writeBytes(data)
        writeString("\n\n")
    }

    /// Writes the id from which a client resumes. Clients see no event, because it has no data.
    package mutating func write(eventID: String) {
        writeString("id: \(eventID)\n\n")
    }
}

/// Parses a stream of server-sent events. Chunks may end anywhere.
package struct EventStreamParser: Sendable {
    /// The stream's last id.
    package private(set) var lastID: String?
    private var unread: [UInt8] = []
    private var name = ""
    private var data: [String] = []

    /// Whether the current line is too long. Then it is dropped.
    private var isTooLong = false

    /// Far more than an event needs.
    private static let maxLineBytes = 1 << 20

    package init() {}

    /// - Returns: The events that these bytes complete.
    package mutating func receive(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                isTooLong = unread.count == Self.maxLineBytes
                if !isTooLong { unread.append(byte) }
                continue
            }
            if unread.last == UInt8(ascii: "\r") { unread.removeLast() }
            if !isTooLong, let event = receive(line: String(decoding: unread, as: UTF8.self)) { events.append(event) }
            unread.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        return events
    }

    private mutating func receive(line: String) -> ServerSentEvent? {
        guard !line.isEmpty else {
            defer { (name, data) = ("", []) }
            if data.isEmpty { return nil }
            return ServerSentEvent(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"), id: lastID)
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
        return nil
    }
}

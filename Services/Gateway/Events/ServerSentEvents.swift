import HTTPTypes
import Hummingbird
import NIOCore

/// The answer of a route that sends events until either side closes (HTML standard, "Server-sent events").
struct ServerSentEvents: Encodable, Sendable {
    static let contentType = "text/event-stream"
}

extension Answer.Form where Value == ServerSentEvents {
    static var eventStream: Self { Self(status: .ok, mediaType: ServerSentEvents.contentType) }
}

extension Answer where Value == ServerSentEvents {
    /// - Parameter body: Writes the events.
    init(events body: ResponseBody) {
        self.init(
            body: body,
            headers: [
                .contentType: ServerSentEvents.contentType, .cacheControl: "no-store",
                // nginx would collect events before it passes them on.
                .accelBuffering: "no",
                // When a stream is ended, its connection is as well. So it cannot be kept open by not reading.
                .connection: "close",
            ])
    }
}

extension ByteBuffer {
    /// Writes an event.
    ///
    /// - Parameter data: JSON on one line.
    mutating func write(event name: String, data: some Sequence<UInt8>) {
        writeString("event: \(name)\ndata: ")
        writeBytes(data)
        writeString("\n\n")
    }

    /// Writes the id from which a client resumes. Without data it is no event.
    mutating func write(eventID: String) {
        writeString("id: \(eventID)\n\n")
    }
}

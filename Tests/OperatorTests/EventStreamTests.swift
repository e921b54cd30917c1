import HTTPRouting
import Testing

/// The stream of events that `msi tail` reads.
@Suite("Reading server-sent events")
struct EventStreamTests {
    private static let stream = """
        retry: 2000
        : a comment

        event: message
        data: {"a":1}

        data:one
        data: two

        id: a17.42

        event: reset
        data: {}\r
        \r

        """

    @Test("Events are read, however the stream is cut", arguments: [1, 2, 7, 1_000])
    func pieces(size: Int) {
        var parser = EventStreamParser()
        var events: [ServerSentEvent] = []
        let bytes = Array(Self.stream.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            events += parser.receive(bytes[start..<min(start + size, bytes.count)])
        }
        #expect(
            events == [
                ServerSentEvent(name: "message", data: #"{"a":1}"#), ServerSentEvent(name: "message", data: "one\ntwo"),
                ServerSentEvent(name: "reset", data: "{}", id: "a17.42"),
            ])
        #expect(parser.lastID == "a17.42")
    }

    @Test("An event that is not complete is not there yet")
    func incomplete() {
        var parser = EventStreamParser()
        #expect(parser.receive("event: message\ndata: {}\n".utf8).isEmpty)
        #expect(parser.lastID == nil)
    }
}

import Testing

@testable import Operator

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
            parser.receive(bytes[start..<min(start + size, bytes.count)]) { events.append($0) }
        }
        #expect(
            events == [
                ServerSentEvent(name: "message", data: #"{"a":1}"#), ServerSentEvent(name: "message", data: "one\ntwo"),
                ServerSentEvent(name: "reset", data: "{}"),
            ])
        #expect(parser.lastID == "a17.42")
    }

    @Test("An event that is not complete is not there yet")
    func incomplete() {
        var parser = EventStreamParser()
        parser.receive("event: message\ndata: {}\n".utf8) { Issue.record("\($0)") }
        #expect(parser.lastID == nil)
    }
}

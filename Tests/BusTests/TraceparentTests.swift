import Bus
import Testing

@Suite("W3C trace contexts")
struct TraceparentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test("A trace context is read and written as it is, with the only flag that has a meaning")
    func roundTrip() throws {
        for (given, written) in [("01", "01"), ("00", "00"), ("ff", "01"), ("02", "00")] {
            let read = try #require(Traceparent("00-\(Self.trace)-\(Self.span)-\(given)"))
            #expect(read.description == "00-\(Self.trace)-\(Self.span)-\(written)")
        }
        let new = Traceparent()
        #expect(Traceparent(new.description) == new)
    }

    @Test("A later version is read as far as it is known")
    func laterVersions() throws {
        for text in ["cc-\(Self.trace)-\(Self.span)-01", "01-\(Self.trace)-\(Self.span)-01-what-the-future-will-be"] {
            #expect(try #require(Traceparent(text)).description == "00-\(Self.trace)-\(Self.span)-01")
        }
    }

    @Test(
        "Anything else is invalid",
        arguments: [
            "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-more", "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01",
            "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01", "00-\(trace)-\(span)-0G",
            "00-\(String(repeating: "0", count: 32))-\(span)-01", "00-\(trace)-\(String(repeating: "0", count: 16))-01",
            "00-\(trace.dropLast())-\(span)-01", "00-\(trace)-\(span)-001", " 00-\(trace)-\(span)-01",
            "00-\(trace)-\(span)-01, 00-\(trace)-\(span)-01", "00-\(trace.dropLast(3))１-\(span)-01",
        ])
    func invalid(text: String) {
        #expect(Traceparent(text) == nil)
    }

    @Test("A following span belongs to the same trace, and keeps its flag; without a parent there is a new trace")
    func following() throws {
        let parent = try #require(Traceparent("00-\(Self.trace)-\(Self.span)-00"))
        let next = Traceparent(following: parent)
        #expect(next.traceID == Self.trace && next.parentID != Self.span && next.description.hasSuffix("-00"))
        #expect(Traceparent(following: nil).traceID != Traceparent(following: nil).traceID)
    }
}

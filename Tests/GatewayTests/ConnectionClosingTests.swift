import HTTPTypes
import NIOCore
import NIOHTTP1
import Testing

@testable import Gateway

/// What a connection does with the bytes around its last answer.
@Suite("The last answer of a connection")
struct ConnectionClosingTests {
    private static let answer = HTTPResponse(status: .ok)

    @Test("A request that cannot be read gets an answer, but not before an earlier request's, and not after the last one")
    func unreadable() {
        var closing = ConnectionClosing(ConnectionTimeouts())
        #expect(closing.unreadable == .answered)
        for isLast in [false, true] {
            closing.requestBegan(isLast: isLast)
            _ = closing.requestEnded()
            #expect(closing.answerStarted(Self.answer) == isLast)
            #expect(closing.unreadable == .reported)
            #expect(closing.answerEnded() == (isLast ? .closes : .stays))
            #expect(closing.unreadable == (isLast ? .dropped : .answered))
        }
        // The refusal of an unreadable request is the last answer as well.
        var refusing = ConnectionClosing(ConnectionTimeouts())
        let refusal = HTTPResponse(status: .badRequest, headerFields: [.connection: "close"])
        let isLast = refusing.answerStarted(refusal)
        let end = refusing.answerEnded()
        #expect(isLast && end == .closes && refusing.unreadable == .dropped)
    }

    @Test("Requests after the last answer are dropped, and after a mebibyte of them no more is read")
    func dropped() {
        var closing = ConnectionClosing(ConnectionTimeouts())
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/" + String(repeating: "a", count: 30_000), headers: ["X": "b"])
        let accepted = (0..<100).count { _ in closing.accepts(head) }
        let isClosing = closing.closeIfIdle()
        #expect(accepted == 100 && isClosing && closing.mayRead)
        var count = 0
        while closing.mayRead, count < 1_000 {
            let isAccepted = closing.accepts(head)
            #expect(!isAccepted)
            count += 1
        }
        #expect((30...40).contains(count))
    }
}

import AsyncHTTPClient
import NIOHTTP1
import NIOHTTP2
import TestSupport
import Testing

@testable import FCMEmulator

/// Requests without an answer, and connections that end, checked frame by frame.
@Suite("Broken connections on demand") struct BrokenConnectionTests {
    @Test("A stream is reset with the configured code, and its message is not accepted") func reset() async throws {
        try await withEmulator { client in
            try await client.fault(#"{"fault":"RESET_STREAM","code":7,"count":1}"#, #"{"fault":"RESET_STREAM","count":1}"#)
            try await FrameClient.with(port: client.port, opening: HTTP2Frame.send(1, to: "a")) { frames in
                #expect(try await frames.next { $0.resetCode(of: 1) } == .refusedStream)
                try await frames.send(HTTP2Frame.send(3, to: "b"))
                #expect(try await frames.next { $0.resetCode(of: 3) } == .internalError)
                // The connection is still open.
                try await frames.send(HTTP2Frame.send(5, to: "c"))
                #expect(try await frames.next { $0.status(of: 5) } == "200")
            }
            #expect(try await client.acceptedTopics() == ["c"])
        }
    }

    @Test("A connection is closed, or reset as by a crash") func closed() async throws {
        try await withEmulator { client in
            for (rule, isReset) in [("CLOSE_CONNECTION", false), ("CUT_CONNECTION", true)] {
                try await client.fault(#"{"fault":"\#(rule)"}"#)
                try await FrameClient.with(port: client.port, opening: HTTP2Frame.send(1, to: "a")) { frames in
                    #expect(await frames.ends() == isReset, "\(rule)")
                }
            }
            #expect(try await client.acceptedTopics() == [])
        }
    }

    @Test("The reply to an accepted message is lost") func lostReply() async throws {
        try await withEmulator { client in
            try await client.fault(
                #"{"fault":"LOST_REPLY","topic":"a","code":8}"#, #"{"fault":"LOST_REPLY","topic":"b","by":"CUT_CONNECTION"}"#,
                #"{"fault":"LOST_REPLY","topic":"c","by":"CLOSE_CONNECTION"}"#)
            try await FrameClient.with(port: client.port, opening: HTTP2Frame.send(1, to: "a")) { frames in
                #expect(try await frames.next { $0.resetCode(of: 1) } == .cancel)
                try await frames.send(HTTP2Frame.send(3, to: "b"))
                #expect(await frames.ends())
            }
            try await FrameClient.with(port: client.port, opening: HTTP2Frame.send(1, to: "c")) { frames in
                #expect(await !frames.ends())
            }
            #expect(try await client.acceptedTopics() == ["a", "b", "c"])
            // A message that is refused is not a lost reply.
            try await client.fault(#"{"fault":"LOST_REPLY"}"#)
            let nobody = "abcdefghijklmnopqrstuv:APA91b" + String(repeating: "x", count: 134)
            #expect(try await client.sendMark("x", to: ("token", nobody)).fcmErrorCode == "UNREGISTERED")
        }
    }

    @Test("A GOAWAY includes the request that triggers it, and the connection ends after it") func goAway() async throws {
        try await withEmulator { client in
            try await client.fault(#"{"fault":"GOAWAY","count":1}"#, #"{"fault":"GOAWAY","code":11,"text":"too many"}"#)
            try await FrameClient.with(port: client.port, opening: HTTP2Frame.send(1, to: "a")) { frames in
                let goAway = try await frames.nextGoAway()
                #expect(goAway == .init(lastStream: 1, code: .noError, text: "max_age"))
                #expect(try await frames.next { $0.status(of: 1) } == "200")
                await frames.ends()
            }
            try await FrameClient.with(port: client.port, opening: HTTP2Frame.send(1, to: "b")) { frames in
                let goAway = try await frames.nextGoAway()
                #expect(goAway == .init(lastStream: 1, code: .enhanceYourCalm, text: "too many"))
                #expect(try await frames.next { $0.status(of: 1) } == "200")
            }
        }
    }

    @Test("A request above the last stream of a GOAWAY is not executed") func goAwayUndone() async throws {
        try await withEmulator { client in
            try await client.fault(#"{"fault":"GOAWAY_UNDONE","topic":"b","count":1}"#)
            try await FrameClient.with(port: client.port, opening: HTTP2Frame.send(1, to: "a")) { frames in
                #expect(try await frames.next { $0.status(of: 1) } == "200")
                try await frames.send(HTTP2Frame.send(3, to: "b"))
                let goAway = try await frames.nextGoAway()
                #expect(goAway == .init(lastStream: 1, code: .noError, text: "max_age"))
                await frames.ends()
            }
            #expect(try await client.acceptedTopics() == ["a"])
        }
    }

    @Test("Requests up to the last stream of a GOAWAY are executed and others are not, in whatever order they arrive")
    func ledger() {
        var ledger = ConnectionStateMachine(limits: ConnectionLimits())
        for stream in [1, 3, 5, 7] { #expect(ledger.arrived(stream) == .admitted) }
        let first = ledger.take(3)
        // Streams 5 and 7 are not processed. Stream 1 is covered although it has not been taken yet.
        let last = ledger.goAwayFromUntaken(because: .age).lastStream
        let rest = [1, 5, 7, 9].map { ledger.take($0) }
        #expect(first && last == 3)
        #expect(rest == [true, false, false, false])
        // A later GOAWAY covers no more streams than the first one.
        let later = ledger.goAway(because: .stopping).lastStream
        #expect(later == 3)
        for stream in [1, 3, 5] { ledger.closed(stream) }
        #expect(!ledger.isFinished)
        ledger.closed(7)
        #expect(ledger.isFinished)
    }

    @Test("In HTTP/1.1, a fault of a stream ends the connection") func http1() async throws {
        try await withEmulator(version: .http1Only) { client in
            for rule in [#""RESET_STREAM""#, #""CUT_CONNECTION""#, #""GOAWAY_UNDONE""#] {
                try await client.fault("{\"fault\":\(rule),\"count\":1}")
                await #expect(throws: (any Error).self, "\(rule)") { try await client.sendMark("x", to: ("topic", "t")) }
            }
            try await client.fault(#"{"fault":"LOST_REPLY","count":1}"#, #"{"fault":"GOAWAY"}"#)
            await #expect(throws: (any Error).self) { try await client.sendMark("x", to: ("topic", "lost")) }
            let answer = try await client.sendMark("x", to: ("topic", "left"))
            #expect(answer.status == 200)
            #expect(answer.headers["Connection"] == ["close"])
            #expect(try await client.acceptedTopics() == ["lost", "left"])
        }
    }

    @Test("An answer can be delayed before the message is accepted, after that, or within its body") func slowness() async throws
    {
        try await withEmulator { client in
            for rule in [
                #""DELAY","least_ms":150,"most_ms":160"#, #""DELAY_REPLY","fixed_ms":150"#, #""SLOW_BODY","fixed_ms":150"#,
            ] {
                try await client.fault("{\"fault\":\(rule)}")
                let start = ContinuousClock.now
                let answer = try await client.sendMark("x", to: ("topic", "slow"))
                #expect(answer.status == 200 && answer.object["name"] != nil)
                #expect(ContinuousClock.now - start >= .milliseconds(140), "\(rule)")
            }
            // Long delays end when the emulator stops.
            try await client.fault(
                #"{"fault":"DELAY","fixed_ms":600000,"topic":"before"}"#,
                #"{"fault":"DELAY_REPLY","fixed_ms":600000,"topic":"after"}"#)
            for topic in ["before", "after"] { Task { _ = try? await client.sendMark("x", to: ("topic", topic)) } }
            try await eventually { try await client.acceptedTopics().last == "after" }
            try await eventually { try await client.faultHits() == [1, 1] }
            let accepted = try await client.acceptedTopics()
            #expect(!accepted.contains("before"))
        }
    }
}

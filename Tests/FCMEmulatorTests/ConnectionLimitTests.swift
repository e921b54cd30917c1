import Base
import NIOHTTP1
import NIOHTTP2
import Testing
import TestSupport

@testable import FCMEmulator

/// The limits of FCM's front end for connections, checked frame by frame.
@Suite("Limits of a connection") struct ConnectionLimitTests {
    private static let opening: [HTTP2Frame] = [1, 3, 5].map { .request($0, "POST", "/token", ends: false) }

    @Test("The SETTINGS say how many streams a connection may have") func settings() async throws {
        for (behaviour, most) in [([:], 100), (["connections": ["streams": .integer(7)]], 7)] as [(JSONValue, Int)] {
            try await withEmulator(behaviour: behaviour) { client in
                try await FrameClient.with(port: client.port) { frames in
                    let settings = try await frames.next { frame in
                        if case .settings(.settings(let settings)) = frame.payload { settings } else { nil }
                    }
                    #expect(settings.first { $0.parameter == .maxConcurrentStreams }?.value == most)
                }
            }
        }
    }

    @Test("A stream beyond the limit ends the connection, and its request is not executed") func goAwayForExcess() async throws {
        try await withEmulator(behaviour: ["connections": ["streams": .integer(2)]]) { client in
            try await FrameClient.with(port: client.port, opening: Self.opening) { frames in
                let goAway = try await frames.nextGoAway()
                #expect(goAway == .init(lastStream: 0, code: .protocolError, text: "exceeded_max_concurrent_streams"))
                await frames.ends()
            }
        }
    }

    @Test("With the setting REFUSED_STREAM, only the stream beyond the limit is refused") func refusal() async throws {
        let behaviour: JSONValue = ["connections": ["streams": .integer(2), "excess": "REFUSED_STREAM"]]
        try await withEmulator(behaviour: behaviour) { client in
            try await FrameClient.with(port: client.port, opening: Self.opening) { frames in
                #expect(try await frames.next { $0.resetCode(of: 5) } == .refusedStream)
                try await frames.send([.body(1, "")])
                #expect(try await frames.next { $0.status(of: 1) } == "400")
                // Until then it counts.
                #expect(try await frames.next { $0.isEnd(of: 1) })
                try await frames.send(HTTP2Frame.send(7, to: "t"))
                #expect(try await frames.next { $0.status(of: 7) } == "200")
            }
        }
    }

    @Test("The third PING without a request between them ends the connection") func pings() async throws {
        try await withEmulator { client in
            try await FrameClient.with(port: client.port) { frames in
                try await frames.send([.ping, .ping] + HTTP2Frame.send(1, to: "t"))
                #expect(try await frames.next { $0.status(of: 1) } == "200")
                try await frames.send([.ping, .ping, .ping])
                let goAway = try await frames.nextGoAway()
                #expect(goAway == .init(lastStream: 1, code: .enhanceYourCalm, text: "too_many_pings"))
                await frames.ends()
            }
        }
    }

    @Test("An idle connection ends, and one with a request in flight does not") func idle() async throws {
        try await withEmulator(behaviour: ["connections": ["idle_ms": .integer(2_000)]]) { client in
            let stream = HTTP2Frame.send(1, to: "t")
            try await FrameClient.with(port: client.port, opening: [stream[0]]) { frames in
                try await Task.sleep(for: .milliseconds(2_500))
                try await frames.send([stream[1]])
                #expect(try await frames.next { $0.status(of: 1) } == "200")
                let first = try await frames.nextGoAway()
                #expect(first == .init(lastStream: Int(Int32.max), code: .noError, text: "session_timeout"))
                let second = try await frames.nextGoAway()
                #expect(second == .init(lastStream: 1, code: .noError, text: "session_timeout"))
                await frames.ends()
            }
        }
    }

    @Test("An old connection ends when its requests are answered") func age() async throws {
        try await withEmulator(behaviour: ["connections": ["age_ms": .integer(2_000)]]) { client in
            let stream = HTTP2Frame.send(1, to: "t")
            try await FrameClient.with(port: client.port, opening: [stream[0]]) { frames in
                #expect(try await frames.nextGoAway().text == "max_age")
                #expect(try await frames.nextGoAway() == .init(lastStream: 1, code: .noError, text: "max_age"))
                try await frames.send([stream[1]])
                #expect(try await frames.next { $0.status(of: 1) } == "200")
                await frames.ends()
            }
        }
    }

    @Test("Limits can be changed while it runs, for new connections") func change() async throws {
        try await withEmulator { client in
            let path = "/emulator/connections"
            #expect(
                try await client.call(.GET, path, token: nil).text
                    == #"{"streams":100,"excess":"GOAWAY","idle_ms":240000,"age_ms":3600000,"pings":3}"#)
            let put = try await client.call(.PUT, path, token: nil, #"{"pings":0,"excess":"refused_stream","idleMs":0}"#)
            #expect(put.text == #"{"streams":100,"excess":"REFUSED_STREAM","idle_ms":0,"age_ms":3600000,"pings":0}"#)
            try await FrameClient.with(port: client.port) { frames in
                try await frames.send(Array(repeating: .ping, count: 50) + HTTP2Frame.send(1, to: "t"))
                #expect(try await frames.next { $0.status(of: 1) } == "200")
            }
            for (body, field) in [(#"{"streams":0}"#, "streams"), (#"{"excess":"DROP"}"#, "excess"), (#"{"max":1}"#, "")] {
                let answer = try await client.call(.PUT, path, token: nil, body)
                #expect(answer.status == 400)
                #expect(answer.violatedFields == (field.isEmpty ? [] : [field]), "\(answer.text)")
            }
            #expect(try await client.call(.GET, path, token: nil).text == put.text)
            #expect(try await client.call(.DELETE, path, token: nil).object["pings"] as? Int == 3)
        }
    }
}

import Bus
import FoundationEssentials
import Glibc
import Schemas
import TestSupport
import Testing
import Base

/// A service that does not run for some seconds, as when it is stopped by a signal or its machine is suspended.
@Suite("Frozen cube service", .timeLimit(.minutes(10)))
struct FrozenCubeTests {
    @Test("After a freeze, requests that waited meanwhile are refused, whatever their deadline says, and later ones are executed")
    func waitedMeanwhile() async throws {
        try await RunningCube.with { cube in
            let stranger = try RawDealer(connectedTo: cube.endpoint)
            try await stranger.send([Array(#"{"id":"0","command":"bus.ping"}"#.utf8), Array("{}".utf8)])
            #expect(try await stranger.receive() == [#"{"id":"0","status":"ok"}"#, "{}"])

            cube.process.signal(SIGSTOP)
            try await eventually { try cube.process.child.hasStopped }
            for id in 1...20 {
                let deadline = UnixMilliseconds.now + 20_000
                let header = #"{"id":"\#(id)","command":"channel.add","timeout":20000,"deadline":\#(deadline)}"#
                try await stranger.send([Array(header.utf8), Array(#"{"channel":{"name":"stale","desc":""}}"#.utf8)])
            }
            // Longer than the shortest pause that counts.
            try await Task.sleep(for: .milliseconds(1_600))
            cube.process.signal(SIGCONT)
            for _ in 1...20 {
                let reply = try #require(try await stranger.receive())
                #expect(reply[0].hasSuffix(#""status":"unavailable"}"#) && reply[1].contains("did not run"), "\(reply)")
            }
            try await eventually { await cube.client.failure(of: ReadCube()) == nil }
            #expect(try await cube.snapshot().channels.isEmpty)
            _ = try await cube.client.request(AddChannel(channel: NamedDraft(name: "fresh", desc: "")))
            #expect(try await cube.snapshot().channels.map(\.name) == ["fresh"])
        }
    }
}

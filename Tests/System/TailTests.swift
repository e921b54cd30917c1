import FoundationEssentials
import Base
import TestSupport
import Testing

extension HarmTests.HarmedProduct {
    /// `msi tail`.
    @Suite("msi tail")
    struct TailTests {
        let stack: Stack

        init() throws {
            stack = try SharedStack.current
        }

        @Test("It shows each message on its way, even one that is sent while the gateway is killed and replaced")
        func messages() async throws {
            try await stack.healthy()
            let subject = try await stack.portal.makeSubject("Alert")
            let end = try await withProgram(
                "msi", arguments: ["tail", "--json"], environment: stack.environment
            ) { tail in
                _ = try await tail.line { $0.contains(#""event":"health""#) }
                let first = try await stack.portal.accepted(subject.message())
                _ = try await tail.line { $0.contains(first) && $0.contains(#""state":"relayed""#) }
                try await stack.killAndReplace("msi-gateway")
                try await stack.healthy()
                let second = try await stack.portal.accepted(subject.message())
                let line = try await tail.line {
                    $0.contains(second) && $0.contains(#""state":"relayed""#)
                }
                #expect(try JSONCoder.decode(JSONValue.self, from: Data(line.utf8))["event"] == "message")
            }
            #expect(end.exitCode == 0, "\(end.lines)")
            // Signs of life are no news.
            #expect(!end.lines.contains { $0.contains("alive") })
        }

        @Test("With a token that the gateway does not know it ends")
        func refused() async throws {
            let end = try await stack.msi(["tail"], ["MSI_TOKEN": "msi_wrong"])
            #expect(end.exitCode == 77, "\(end.lines)")
        }
    }
}

import FoundationEssentials
import Glibc
import JSON
import ProductVersion
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// `msi status`.
    @Suite("msi status")
    struct StatusTests {
        private func status(_ stack: Stack, _ arguments: [String] = []) async throws -> (code: Int32?, lines: [String]) {
            let environment = ["MSI_STATE_DIR": stack.stateDirectory, "MSI_GATEWAY_PORT": "\(stack.portal.port)"]
            let end = try await withProgram(
                BuiltProduct.path(of: "msi"), arguments: ["status"] + arguments, environment: environment
            ) { try await $0.end(within: .seconds(60)) }
            return (end.exitCode, end.lines)
        }

        @Test(
            "It shows the services with their versions, the waiting messages, and unavailable services; its exit status is that of the hub"
        )
        func states() async throws {
            try await withStack { stack in
                try await stack.healthy()
                let subject = try await stack.portal.makeSubject("Alert")
                #expect(try await stack.portal.post(subject.message()).status == 201)
                try await eventually("a relayed message") {
                    let well = try await status(stack)
                    return well.code == 0 && well.lines.contains("in the last minute: 1 accepted, 1 relayed")
                }
                let well = try await status(stack)
                #expect(well.lines.first == "ok: Mobile Student Intranet at http://127.0.0.1:\(stack.portal.port)")
                for service in ["gateway", "cube", "people", "message-log", "broadcast"] {
                    #expect(
                        well.lines.contains { $0.split(separator: " ").starts(with: [service[...], "ok", productVersion[...]]) },
                        "\(well.lines)")
                }
                #expect(well.lines.contains("messages: 0 waiting; 0 scheduled, 0 held"), "\(well.lines)")

                try stack.signal(SIGSTOP, "msi-fcm-relay")
                #expect(try await stack.portal.post(subject.message()).status == 201)
                try await eventually("a degraded status") { try await status(stack).code == 1 }
                let json = try JSONCoder.decode(
                    JSONValue.self, from: Data(try #require(await status(stack, ["--json"]).lines.last).utf8))
                #expect(json["health"]?["status"] == "degraded")
                #expect(json["messages"]?["waiting"] == 1)
                let degraded = try await status(stack)
                #expect(degraded.lines.contains { $0.hasPrefix("  relay") && !$0.contains(" ok") }, "\(degraded.lines)")
                #expect(degraded.lines.contains { $0.hasPrefix("messages: 1 waiting, the oldest for ") }, "\(degraded.lines)")
                try stack.signal(SIGCONT, "msi-fcm-relay")

                try await stack.whileFrozen("msi-message-log") {
                    try await eventually("an unavailable status") { try await status(stack).code == 2 }
                    let lines = try await status(stack).lines
                    #expect(lines.contains { $0.hasPrefix("messages: not known: ") }, "\(lines)")
                }
            }
        }

        @Test("Without a gateway it ends with 2 at once, and says where it has looked")
        func absent() async throws {
            try await withTemporaryFolder { folder in
                let port = try LoopbackPort.free()
                let end = try await withProgram(
                    BuiltProduct.path(of: "msi"), arguments: ["status"],
                    environment: ["MSI_STATE_DIR": folder, "MSI_GATEWAY_PORT": "\(port)"]
                ) { try await $0.end(within: .seconds(20)) }
                #expect(end.exitCode == 2)
                #expect(
                    end.lines.contains { $0.contains("127.0.0.1:\(port)") && $0.contains("MSI_GATEWAY_PORT") }, "\(end.lines)")
            }
        }
    }
}

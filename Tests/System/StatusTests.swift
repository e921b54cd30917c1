import FoundationEssentials
import Glibc
import Base
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension HarmTests.HarmedProduct {
    /// `msi status`.
    @Suite("msi status")
    struct StatusTests {
        let stack: Stack

        init() throws {
            stack = try SharedStack.current
        }

        private func status(
            _ arguments: [String] = [], _ settings: [String: String] = [:]
        ) async throws -> ProgramEnd<Void> {
            try await stack.msi(["status"] + arguments, settings)
        }

        @Test(
            "It shows the services with their versions, the waiting messages, and unavailable services; its exit status is that of the hub"
        )
        func states() async throws {
            try await stack.healthy()
            let subject = try await stack.portal.makeSubject("Alert")
            // Messages of other tests may wait until what those have harmed is well again, and a minute is soon over.
            try await eventually("no message that waits", within: .seconds(300)) {
                let well = try await status()
                return well.exitCode == 0 && well.lines.contains { $0.hasPrefix("messages: 0 waiting; ") }
            }
            #expect(try await stack.portal.post(subject.message()).status == 201)
            let well: ProgramEnd<Void> = try await eventually("a relayed message") {
                let well = try await status()
                let isRelayed =
                    well.exitCode == 0
                    && well.lines.contains { $0.contains(/^in the last minute: [1-9]\d* accepted, [1-9]\d* relayed/) }
                    && well.lines.contains { $0.hasPrefix("messages: 0 waiting; ") }
                return isRelayed ? well : nil
            }
            #expect(well.lines.first == "ok: Mobile Student Intranet at http://127.0.0.1:\(stack.portal.port)")
            for service in ["gateway", "cube", "people", "message-log", "broadcast", "study"] {
                #expect(
                    well.lines.contains { $0.split(separator: " ").starts(with: [service[...], "ok", productVersion[...]]) },
                    "\(well.lines)")
            }
            try await stack.whileFrozen("msi-fcm-relay") {
                #expect(try await stack.portal.post(subject.message()).status == 201)
                try await eventually("a degraded status") { try await status().exitCode == 1 }
                let json = try JSONCoder.decode(
                    JSONValue.self, from: Data(try #require(await status(["--json"]).lines.last).utf8))
                #expect(json["health"]?["status"] == "degraded" && json["status"] == "degraded")
                #expect(json["problems"]?.array.contains { $0.string?.hasPrefix("message-log relay") == true } == true, "\(json)")
                #expect(json["messages"]?["waiting"] == 1)
                let degraded = try await status()
                #expect(degraded.lines.contains { $0.hasPrefix("  relay") && !$0.contains(" ok") }, "\(degraded.lines)")
                #expect(degraded.lines.contains { $0.hasPrefix("messages: 1 waiting, the oldest for ") }, "\(degraded.lines)")
            }

            try await stack.whileFrozen("msi-message-log") {
                try await eventually("an unavailable status") { try await status().exitCode == 2 }
                let lines = try await status().lines
                #expect(lines.contains { $0.hasPrefix("messages: not known: ") }, "\(lines)")
            }
        }

        @Test("It says what a token may not see, shows the services without a valid one, and does not wait for a frozen gateway")
        func access() async throws {
            try await stack.healthy()
            let (subject, other) = (
                try await stack.portal.makeSubject("Alert"), try await stack.portal.makeSubject("Alert", name: "Other")
            )
            var message = other.message()
            message["send_at"] = .integer(.nowInMilliseconds + 3_600_000)
            #expect(try await stack.portal.post(message).status == 201)
            let made = try await stack.portal.call(
                .POST, "/token", ["name": "one", "rights": ["read"], "scope": ["\(subject.topicKey)"]])
            let secret = try #require(try made.json["secret"]?.string)
            // Messages of other tests may wait until what those have harmed is well again.
            try await eventually("the state of all messages") {
                try await status().lines.contains { $0.contains(/^messages: 0 waiting; [1-9]\d* scheduled, \d+ held$/) }
            }
            let some = try await status([], ["MSI_TOKEN": secret])
            #expect(
                some.lines.contains("messages: 0 waiting; 0 scheduled, 0 held, of what this token may see"), "\(some.lines)")

            let refused = try await status([], ["MSI_TOKEN": "msi_wrong"])
            #expect(refused.exitCode == 3)
            #expect(
                refused.lines.contains { $0.hasPrefix("unknown: ") && $0.hasSuffix("(the token is refused)") },
                "\(refused.lines)")
            #expect(refused.lines.contains { $0.split(separator: " ").starts(with: ["message-log", "ok"]) })
            #expect(
                refused.lines.contains {
                    $0.hasPrefix("messages: not known: the token is refused")
                        && $0.hasSuffix("It comes from MSI_TOKEN: put a valid one there, or unset it")
                }, "\(refused.lines)")

            // A folder cannot be read as a token, also not by root.
            try await withTemporaryFolder { folder in
                func expectUnknown(_ problem: String) async throws {
                    let end = try await msi(["status"], in: folder, ["MSI_GATEWAY_PORT": "\(stack.portal.port)"])
                    #expect(end.exitCode == 3)
                    #expect(end.lines.contains { $0.hasPrefix("unknown: ") && $0.contains(problem) }, "\(end.lines)")
                    #expect(end.lines.contains { $0.split(separator: " ").starts(with: ["message-log", "ok"]) })
                }
                try await expectUnknown("there is no token in \(folder)/token")
                #expect(mkdir(folder + "/token", 0o700) == 0)
                try await expectUnknown("\(folder)/token cannot be read")
            }

            let watched = try await withProgram(
                "msi", arguments: ["status", "--watch"], environment: stack.environment
            ) { program in
                try await eventually("two pictures") {
                    program.lines.count { $0.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil } >= 2
                }
            }
            #expect(watched.exitCode == 0)

            try await stack.whileFrozen("msi-gateway") {
                let frozen = try await status()
                #expect(frozen.exitCode == 2)
                #expect(
                    frozen.lines.contains { $0.hasPrefix("unavailable: ") && $0.contains("does not answer within 5 s") },
                    "\(frozen.lines)")
            }
        }

        @Test("Without a gateway it ends with 2 at once, and says where it has looked")
        func absent() async throws {
            try await withTemporaryFolder { folder in
                let port = try LoopbackPort.free()
                let end = try await msi(["status"], in: folder, ["MSI_GATEWAY_PORT": "\(port)"])
                #expect(end.exitCode == 2)
                #expect(
                    end.lines.contains { $0.contains("127.0.0.1:\(port)") && $0.contains("MSI_GATEWAY_PORT") }, "\(end.lines)")
            }
        }
    }
}

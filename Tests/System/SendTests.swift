import FoundationEssentials
import JSON
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// `msi send`, `msi sample` and `msi phone`.
    @Suite("msi send, msi sample and msi phone")
    struct SendTests {
        private func send(_ stack: Stack, _ arguments: [String], settings: [String: String] = [:]) async throws -> ProgramEnd<
            Void
        > {
            let environment = ["MSI_STATE_DIR": stack.stateDirectory, "MSI_GATEWAY_PORT": "\(stack.portal.port)"]
            return try await withProgram(
                BuiltProduct.path(of: "msi"), arguments: ["send"] + arguments,
                environment: environment.merging(settings) { $1 }
            ) { try await $0.end(within: .seconds(150)) }
        }

        @Test("The README's three commands show a message on a phone")
        func readme() async throws {
            let readme = try String(contentsOfFile: BuiltProduct.packageFolder() + "README.md", encoding: .utf8)
            let msi = try BuiltProduct.path(of: "msi")
            let commands = readme.split(separator: "\n").filter { $0.hasPrefix(".build/release/msi ") }.map { line in
                "'\(msi)'" + line.split(separator: "#")[0].dropFirst(".build/release/msi".count)
            }
            try #require(commands.count == 3)
            try await withStack { stack in
                let environment = [
                    "MSI_STATE_DIR": stack.stateDirectory, "MSI_GATEWAY_PORT": "\(stack.portal.port)",
                    "MSI_FCM_EMULATOR_PORT": "\(stack.fcm.port)",
                ]
                @Sendable func run<Value: Sendable>(
                    _ index: Int, _ body: @Sendable (RunningProgram) async throws -> Value
                ) async throws -> ProgramEnd<Value> {
                    // The shell is replaced by the command, so that Ctrl-C reaches it.
                    try await withProgram(
                        "/bin/bash", arguments: ["-c", "exec " + commands[index]], environment: environment, body)
                }
                for _ in 0..<2 {
                    let sample = try await run(0) { try await $0.end(within: .seconds(150)) }
                    #expect(sample.exitCode == 0 && sample.lines.first == "Campus/Weather/Storms (Alert)", "\(sample.lines)")
                }
                let phone = try await run(1) { phone in
                    _ = try await phone.line(within: .seconds(60)) { $0.hasPrefix("a phone with 3 subjects") }
                    let sent = try await run(2) { try await $0.end(within: .seconds(150)) }
                    #expect(sent.exitCode == 0, "\(sent.lines)")
                    _ = try await phone.line(within: .seconds(60)) { $0 == "notification: Campus closed" }
                    _ = try await phone.line(within: .seconds(60)) { $0 == "  All lectures of today are cancelled." }
                }
                #expect(phone.exitCode == 0, "\(phone.lines)")
            }
        }

        @Test("A message reaches the phone, and the command waits until FCM has it")
        func send() async throws {
            try await withStack { stack in
                try await stack.healthy()
                let subject = try await stack.portal.makeSubject("Alert", name: "Hours")
                try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                    let sent = try await send(
                        stack, ["library/Main building/hours", "Closed\nUntil Monday", "--desc", "See the app", "--wait"])
                    #expect(sent.exitCode == 0 && sent.lines.count == 2 && sent.lines.last == "relayed", "\(sent.lines)")
                    let events = try await phone.events(2) { $0.msiKey == sent.lines.first || $0.component == "notification" }
                    let data = try #require(events.first { $0.component == "data" }?.json["data"])
                    #expect(data["title"] == "Closed" && data["message"] == "Closed\nUntil Monday")
                }
                let refused = try await send(stack, ["Libary/Main building/Hours", "text"])
                #expect(refused.exitCode == 65 && refused.lines.contains { $0.contains("did you mean \"Library\"") })
                let token = try await stack.portal.call(.POST, "/token", ["name": "script", "rights": ["send"]]).json["secret"]?
                    .string
                let unread = try await send(
                    stack, ["Library/Main building/Hours", "text", "--wait"], settings: ["MSI_TOKEN": try #require(token)])
                #expect(
                    unread.exitCode == 69 && unread.lines.contains { $0.contains("the message is stored") }, "\(unread.lines)")
                let misspelt = try await send(stack, ["Library/Hours", "text"])
                #expect(misspelt.exitCode == 64 && misspelt.lines.contains { $0.contains("expected three names") })
            }
        }

        @Test("A message that waits for an approval does not keep the command waiting")
        func held() async throws {
            try await withStack { stack in
                let subject = try await stack.portal.makeSubject("Alert", name: "Hours")
                let path = "/approval/\(subject.channel)/\(subject.area)/\(subject.subject)"
                #expect(try await stack.portal.call(.PUT, path, ["approval": true]).status == 200)
                let waiting = try await send(stack, ["Library/Main building/Hours", "text", "--wait"])
                #expect(waiting.exitCode == 1 && waiting.lines.last?.hasPrefix("held") == true, "\(waiting.lines)")
                let sent = try await send(stack, ["Library/Main building/Hours", "text"])
                #expect(sent.exitCode == 0 && sent.lines.contains { $0.contains("must approve") }, "\(sent.lines)")
            }
        }

        @Test("A repeated command sends one message, and an unreachable gateway is an error after half a minute")
        func repeated() async throws {
            try await withStack { stack in
                _ = try await stack.portal.makeSubject("Information", name: "Hours")
                let command = ["Library/Main building/Hours", "text", "--title", "t", "--idempotency-key", "k"]
                let first = try await send(stack, command)
                #expect(first.exitCode == 0, "\(first.lines)")
                // The gateway restarts while the command runs.
                try stack.signal(9, "msi-gateway")
                #expect(try await send(stack, command).lines.last == first.lines.last)
                let nowhere = try await send(stack, command, settings: ["MSI_GATEWAY_URL": "http://127.0.0.1:1"])
                #expect(nowhere.exitCode == 75 && nowhere.lines.contains { $0.contains("does not answer") }, "\(nowhere.lines)")
            }
        }

        @Test("The token of the state directory goes to no other machine, and no token goes there without encryption")
        func otherGateways() async throws {
            try await withStack { stack in
                let command = ["Library/Main building/Hours", "text"]
                for (settings, complaint) in [
                    (["MSI_GATEWAY_URL": "http://hub.example.edu"], "http:// only with a loopback address"),
                    (
                        ["MSI_GATEWAY_URL": "http://127.0.0.1.example.edu", "MSI_TOKEN": "t"],
                        "http:// only with a loopback address"
                    ),
                    (["MSI_GATEWAY_URL": "https://hub.example.edu"], "MSI_TOKEN is required for https://hub.example.edu"),
                ] {
                    let end = try await send(stack, command, settings: settings)
                    #expect(end.exitCode == 78 && end.lines.contains { $0.contains(complaint) }, "\(end.lines)")
                }
            }
        }
    }
}

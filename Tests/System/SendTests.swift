import FoundationEssentials
import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// `msi send`, `msi sample` and `msi phone`.
    @Suite("msi send, msi sample and msi phone")
    struct SendTests {
        let stack: Stack

        init() throws {
            stack = try SharedStack.current
        }

        private func send(_ arguments: [String], _ settings: [String: String] = [:]) async throws -> ProgramEnd<Void> {
            try await stack.msi(["send"] + arguments, settings)
        }

        @Test("The README's three commands show a message on a phone")
        func readme() async throws {
            let readme = try String(contentsOfFile: BuiltProduct.packageFolder() + "README.md", encoding: .utf8)
            let msi = try BuiltProduct.path(of: "msi")
            let commands = readme.split(separator: "\n").filter { $0.hasPrefix(".build/release/msi ") }.map { line in
                "'\(msi)'" + line.split(separator: "#")[0].dropFirst(".build/release/msi".count)
            }
            try #require(commands.count == 3)
            @Sendable func run<Value: Sendable>(
                _ index: Int, _ body: @Sendable (RunningProgram) async throws -> Value
            ) async throws -> ProgramEnd<Value> {
                // The shell is replaced by the command, so that Ctrl-C reaches it.
                try await withProgram(
                    "/bin/bash", arguments: ["-c", "exec " + commands[index]], environment: stack.environment, body)
            }
            for outcome in ["", "already there"] {
                let sample = try await run(0) { try await $0.end() }
                let first = sample.lines.first ?? ""
                #expect(sample.exitCode == 0 && first.hasPrefix("Campus/Weather/Storms (Alert): "), "\(sample.lines)")
                #expect(first.hasSuffix(outcome) && sample.lines.last?.contains("http://") == true, "\(sample.lines)")
            }
            let phone = try await run(1) { phone in
                _ = try await phone.line { $0.contains(/^a phone with \d+ subjects/) }
                let sent = try await run(2) { try await $0.end() }
                #expect(sent.exitCode == 0, "\(sent.lines)")
                _ = try await phone.line { $0 == "notification: Campus closed" }
                _ = try await phone.line { $0 == "  All lectures of today are cancelled." }
            }
            #expect(phone.exitCode == 0, "\(phone.lines)")
        }

        @Test("A message reaches the phone, and the command waits until FCM has it")
        func send() async throws {
            try await stack.healthy()
            let subject = try await stack.portal.makeSubject("Alert", at: "Reading room")
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                let sent = try await send(
                    ["reading Room/Main building/hours", "Closed\nUntil Monday", "--desc", "See the app", "--wait"])
                #expect(sent.exitCode == 0 && sent.lines.count == 2, "\(sent.lines)")
                #expect(sent.lines.last == "relayed (Web Push: handed over for 0 browsers)", "\(sent.lines)")
                let events = try await phone.events(2) { $0.msiKey == sent.lines.first || $0.component == "notification" }
                let data = try #require(events.first { $0.component == "data" }?.json["data"])
                #expect(data["title"] == "Closed" && data["message"] == "Until Monday")
            }
            let refused = try await send(["Readin room/Main building/Hours", "text"])
            #expect(refused.exitCode == 65 && refused.lines.contains { $0.contains("did you mean \"Reading room\"") })
            let token = try await stack.portal.call(.POST, "/token", ["name": "script", "rights": ["send"]]).json["secret"]?
                .string
            let unread = try await send(
                ["Reading room/Main building/Hours", "text", "--wait"], ["MSI_TOKEN": try #require(token)])
            #expect(
                unread.exitCode == 69 && unread.lines.contains { $0.contains("the message is stored") }, "\(unread.lines)")
            let misspelt = try await send(["Library/Hours", "text"])
            #expect(misspelt.exitCode == 64 && misspelt.lines.contains { $0.contains("expected three names") })
        }

        @Test("A message that waits for an approval does not keep the command waiting")
        func held() async throws {
            let subject = try await stack.portal.makeSubject("Alert", at: "Archive")
            let path = "/approval/\(subject.channel)/\(subject.area)/\(subject.subject)"
            #expect(try await stack.portal.call(.PUT, path, ["approval": true]).status == 200)
            let waiting = try await send(["Archive/Main building/Hours", "text", "--wait"])
            #expect(waiting.exitCode == 1 && waiting.lines.last?.hasPrefix("held") == true, "\(waiting.lines)")
            let sent = try await send(["Archive/Main building/Hours", "text"])
            #expect(sent.exitCode == 0 && sent.lines.contains { $0.contains("must approve") }, "\(sent.lines)")
        }
    }
}

extension HarmTests.HarmedProduct {
    @Suite("A repeated msi send")
    struct RepeatedSendTests {
        @Test("A repeated command sends one message, even while the gateway is killed and replaced")
        func repeated() async throws {
            let stack = try SharedStack.current
            _ = try await stack.portal.makeSubject("Information", at: "Refectory")
            let command = ["send", "Refectory/Main building/Hours", "text", "--title", "t", "--idempotency-key", "k"]
            let first = try await stack.msi(command)
            #expect(first.exitCode == 0, "\(first.lines)")
            // The gateway restarts while the command runs.
            try stack.signal(9, "msi-gateway")
            #expect(try await stack.msi(command).lines.last == first.lines.last)
            try await stack.healthy()
        }
    }
}

import FoundationEssentials
import Glibc
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// What `msi up` tells the operator about its services while they run and stop.
    @Suite("Supervision by msi up", .serialized)
    struct SupervisionTests {
        @Test("A service that ends again and again: the lines say how it ended, and why by its log, once")
        func endsAgainAndAgain() async throws {
            try await withExecutables { executables, script in
                try await withStack(script: script) { stack in
                    let id = try #require(stack.processes["msi-cube"])
                    try replace(
                        "\(executables)/msi-cube",
                        """
                        #!/bin/bash
                        echo '{"time":"2026-11-21T10:00:00.000Z","level":"error","service":"msi-cube","message":"the disk is \\u001b[2Jgone"}'
                        exit 3
                        """)
                    #expect(kill(id, SIGKILL) == 0)
                    func lines() -> [String] { stack.program.lines.filter { $0.hasPrefix("msi-cube ") } }
                    try await eventually("four ends", within: .seconds(30)) { lines().count >= 4 }
                    let ends = lines()
                    #expect(ends[0] == "msi-cube was ended by signal 9 (SIGKILL); starting it again in 0.1 s")
                    #expect(ends[1].hasPrefix("msi-cube exited with status 3; starting it again in "))
                    #expect(ends.count { $0.hasSuffix(". Its log: the disk is [2Jgone") } == 1, "\(ends)")
                    #expect(ends[3].hasSuffix(" (for the same reason as before)"), "\(ends)")
                }
            }
        }

        @Test("A service that a signal has stopped continues at Ctrl-C, and stops in its turn")
        func frozen() async throws {
            try await withTemporaryFolder { folder in
                let frozen = ["msi-cube", "msi-fcm-relay", "msi-gateway"]
                let end = try await withUp(in: folder) { program in
                    for child in program.children where frozen.contains(child.name) { kill(child.id, SIGSTOP) }
                }
                #expect(end.exitCode == 0 && end.lines.last == "stopped", "\(end.lines)")
                #expect(!end.lines.contains { $0.contains("killing it") }, "\(end.lines)")
                for service in frozen {
                    let log = try String(contentsOfFile: "\(folder)/log/\(service).log", encoding: .utf8)
                    #expect(log.contains("\"message\":\"stopped\""), "\(service)")
                }
            }
        }

        @Test("A stop that takes long says what it waits for")
        func longStop() async throws {
            try await withExecutables { executables, script in
                let release = executables + "/release"
                try replace(
                    "\(executables)/msi-phone",
                    """
                    #!/usr/bin/env python3
                    import os, signal, socket, time
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    name = os.environ["NOTIFY_SOCKET"]
                    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", "\\0" + name[1:])
                    while not os.path.exists("\(release)"): time.sleep(0.01)
                    """)
                try await withTemporaryFolder { folder in
                    let end = try await withUp(script, in: folder) { program in
                        program.signal(SIGINT)
                        let line = try await program.line(within: .seconds(20)) { $0.contains("waiting for") }
                        #expect(line.hasPrefix("waiting for msi-phone to stop"))
                        try Data().write(to: URL(filePath: release))
                        try await program.end(within: .seconds(20))
                    }
                    #expect(end.exitCode == 0 && !end.lines.contains { $0.contains("killing it") }, "\(end.lines)")
                }
            }
        }

        @Test("A mistake in one service's setting keeps every service from reading the file, and the lines say so")
        func mistakeAtReload() async throws {
            try await withTemporaryFolder { folder in
                let file = folder + "/msi.env"
                @Sendable func configure(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: file)) }
                try configure("MSI_LOG_LEVEL=info\n")
                try await withStack(settings: ["MSI_CONFIG_FILE": file]) { stack in
                    try configure("MSI_LOG_LEVEL=debug\nMSI_MESSAGE_RETENTION=-1\n")
                    stack.program.signal(SIGHUP)
                    let mistake = try await stack.program.line(within: .seconds(30)) { $0.contains("MSI_MESSAGE_RETENTION") }
                    #expect(mistake.hasPrefix("  ") && mistake.hasSuffix("(msi-message-log)"))
                    #expect(
                        stack.program.lines.contains(
                            "the settings have a mistake, and no service reads them: nothing has changed"))

                    try configure("MSI_LOG_LEVEL=debug\n")
                    stack.program.signal(SIGHUP)
                    let change = "  MSI_LOG_LEVEL has changed from info to debug (every service)"
                    _ = try await stack.program.line(within: .seconds(30)) { $0 == change }
                    // It was not taken over at the first reload, which would leave nothing to change.
                    #expect(stack.program.lines.count { $0.contains("MSI_LOG_LEVEL") } == 1, "\(stack.program.lines)")
                }
            }
        }

        @Test("A second msi up names the process of the first, also if that is stopped")
        func holderOfTheLock() async throws {
            try await withStack { stack in
                func refusal() async throws -> String {
                    let second = try await withProgram(
                        try BuiltProduct.path(of: "msi"), arguments: ["up"], environment: settings(in: stack.stateDirectory)
                    ) { try await $0.end(within: .seconds(20)) }
                    #expect(second.exitCode == 1)
                    return second.lines.joined(separator: "\n")
                }
                let id = try #require(try await refusal().firstMatch(of: /The lock is held by process (\d+) \(msi up\)$/)?.1)
                stack.program.signal(SIGSTOP)
                let outcome: Result<String, any Error>
                do { outcome = .success(try await refusal()) } catch { outcome = .failure(error) }
                stack.program.signal(SIGCONT)
                #expect(try outcome.get().hasSuffix("process \(id) (msi up), which is stopped: kill -CONT \(id)"))
            }
        }

        @Test("A problem with the token's file is named at the start, and by a command that needs it")
        func malformedToken() async throws {
            try await withTemporaryFolder { folder in
                _ = try await withUp(in: folder) { _ in }
                try Data().write(to: URL(filePath: folder + "/token"))
                let end = try await withUp(in: folder) { program in
                    let ready = try await program.line(within: .seconds(60)) { $0.hasPrefix("ready: ") }
                    let port = try #require(ready.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)/)?.1)
                    let sample = try await withProgram(
                        try BuiltProduct.path(of: "msi"), arguments: ["sample"],
                        environment: ["MSI_STATE_DIR": folder, "MSI_GATEWAY_PORT": String(port)]
                    ) { try await $0.end(within: .seconds(20)) }
                    #expect(sample.exitCode == EX_NOPERM)
                    #expect(sample.lines.contains { $0.contains("\(folder)/token is empty") }, "\(sample.lines)")
                }
                #expect(end.lines.contains("\(folder)/token is empty. For a new token: msi account token"), "\(end.lines)")
            }
        }

        @Test("The greeting says which process serves its metrics where")
        func metrics() async throws {
            // A free port, and all those that follow it.
            let count = Stack.services.count
            let first = try #require(
                try (0..<100).lazy.map { _ in try LoopbackPort.free() }.first { first in
                    (first..<first + count).allSatisfy { LoopbackPort.obstacle($0) == nil }
                })
            try await withStack(settings: ["MSI_METRICS_PORT": "\(first)"]) { stack in
                let line = try #require(stack.program.lines.first { $0.hasPrefix("  metrics  ") })
                #expect(line.hasPrefix("  metrics  http://127.0.0.1:\(first)/metrics (\(Stack.services[0])), \(first + 1) ("))
                for (index, service) in Stack.services.enumerated() {
                    let answer = try await Portal(port: first + index, http: stack.portal.http, token: nil).call(.GET, "/metrics")
                    #expect(answer.status == 200, "\(service)")
                    #expect(index == 0 || line.contains(", \(first + index) (\(service))"), "\(line)")
                }
            }
        }

        // MARK: The processes

        /// Runs `msi up` until it is ready, and a body, and stops it as by Ctrl-C.
        private func withUp(
            _ script: String? = nil, in folder: String, _ body: @Sendable (RunningProgram) async throws -> Void
        ) async throws -> ProgramEnd<Void> {
            try await withProgram(
                try script ?? BuiltProduct.path(of: "msi"), arguments: script == nil ? ["up"] : [],
                environment: settings(in: folder)
            ) { program in
                _ = try await program.line(within: .seconds(60)) { $0.contains("  stop ") }
                try await body(program)
            }
        }

        private func settings(in folder: String) -> [String: String] {
            ["MSI_STATE_DIR": folder, "MSI_GATEWAY_PORT": "0", "MSI_FCM_EMULATOR_PORT": "0", "MSI_PHONE_PORT": "0"]
        }

        /// Runs a body with a folder of executables that it may replace, and a script that runs the `msi up` of them.
        private func withExecutables(_ body: @Sendable (_ folder: String, _ script: String) async throws -> Void) async throws {
            try await withTemporaryFolder { folder in
                // The folder of `msi` is where the others are looked for, so it is a copy.
                try FileManager.default.copyItem(atPath: BuiltProduct.path(of: "msi"), toPath: folder + "/msi")
                for name in Stack.services {
                    try FileManager.default.createSymbolicLink(
                        atPath: "\(folder)/\(name)", withDestinationPath: BuiltProduct.path(of: name))
                }
                try replace(folder + "/up", "#!/bin/sh\nexec \(folder)/msi up\n")
                try await body(folder, folder + "/up")
            }
        }

        /// Puts an executable script in the place of a file.
        private func replace(_ path: String, _ text: String) throws {
            unlink(path)
            try Data(text.utf8).write(to: URL(filePath: path))
            guard chmod(path, 0o700) == 0 else { throw TooLate("\(path) cannot be made executable") }
        }
    }
}

import FoundationEssentials
import Glibc
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// What `msi up` tells the operator about its services while they run and stop.
    @Suite("Supervision by msi up")
    struct SupervisionTests {
        @Test(
            """
            A service that ends again and again is named with the reason in its log, once; a stop continues services that a signal has \
            stopped, and says what it waits for
            """)
        func troubledServices() async throws {
            try await withTemporaryFolder { folder in
                let executables = try await Executables(in: folder + "/some where")
                let release = folder + "/release"
                try await executables.replace(
                    "msi-phone",
                    """
                    #!/usr/bin/env python3
                    import os, signal, socket, time
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    name = os.environ["NOTIFY_SOCKET"]
                    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", "\\0" + name[1:])
                    while not os.path.exists("\(release)"): time.sleep(0.01)
                    """)
                let state = folder + "/state"
                let frozen = ["msi-fcm-relay", "msi-gateway"]
                let end = try await withUp(executables.msi, in: state) { program in
                    try await expectEnds(of: "msi-cube", in: program, executables, state)
                    for child in program.children where frozen.contains(child.name) { kill(child.id, SIGSTOP) }
                    program.signal(SIGINT)
                    let line = try await program.line { $0.contains("waiting for") }
                    #expect(line.hasPrefix("waiting for msi-phone to stop"))
                    try Data().write(to: URL(filePath: release))
                    try await program.end()
                }
                #expect(end.exitCode == 0 && end.lines.last == "stopped", "\(end.lines)")
                #expect(!end.lines.contains { $0.contains("killing it") }, "\(end.lines)")
                for service in frozen {
                    let log = try String(contentsOfFile: "\(state)/log/\(service).log", encoding: .utf8)
                    #expect(log.contains("\"message\":\"stopped\""), "\(service)")
                }
            }
        }

        /// Replaces a service by one that ends each time, and expects what the supervisor and `msi doctor` say.
        private func expectEnds(
            of service: String, in program: RunningProgram, _ executables: Executables, _ state: String
        ) async throws {
            let id = try #require(program.children.first { $0.name == service }?.id)
            try await executables.replace(
                service,
                """
                #!/bin/bash
                echo '{"time":"2026-11-21T10:00:00.000Z","level":"error","service":"\(service)","message":"the disk is \\u001b[2Jgone"}'
                exit 3
                """)
            #expect(kill(id, SIGKILL) == 0)
            func lines() -> [String] { program.lines.filter { $0.hasPrefix("\(service) ") } }
            try await eventually("four ends") { lines().count >= 4 }
            let ends = lines()
            #expect(ends[0] == "\(service) was ended by signal 9 (SIGKILL); starting it again in 0.1 s")
            #expect(ends[1].hasPrefix("\(service) exited with status 3; starting it again in "))
            #expect(ends.count { $0.hasSuffix(". Its log: the disk is [2Jgone") } == 1, "\(ends)")
            #expect(ends[3].hasSuffix(" (for the same reason as before)"), "\(ends)")
            let ready = try await program.line { $0.hasPrefix("ready: ") }
            let port = try #require(ready.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)/)?.1)
            try await eventually("msi doctor names it") {
                try await DoctorReport(["MSI_STATE_DIR": state, "MSI_GATEWAY_PORT": String(port)])
                    .has("failure", "sockets", "\(service) ends each time msi up starts it", "\(service).log")
            }
        }

        @Test("A missing executable ends msi up and the services that it has started, with an error that names it")
        func executableMissing() async throws {
            try await withTemporaryFolder { folder in
                let executables = try await Executables(in: folder + "/some where")
                try executables.remove("msi-cube")
                let end = try await withFailingUp(executables.msi, in: folder + "/state")
                #expect(end.exitCode == 1)
                #expect(end.lines.contains { $0.contains("msi-cube did not start") }, "\(end.lines)")
                #expect(!end.lines.contains { $0.contains("ready") })
            }
        }
    }
}

extension HarmTests.HarmedProduct {
    /// `msi up` as it runs: its reloads, its lock and its greeting.
    @Suite("msi up while it runs")
    struct RunningUpTests {
        let stack: Stack

        init() throws {
            stack = try SharedStack.current
        }

        @Test("At a reload, a service that finds a mistake keeps its settings, and the lines name it; the others read theirs")
        func mistakeAtReload() async throws {
            try stack.configuration.write(level: "debug", "MSI_MESSAGE_RETENTION=-1\n")
            try await stack.reload(until: "the settings were read again, but not by msi-message-log")
            try await eventually("the mistake") {
                stack.program.lines.contains {
                    $0.hasPrefix("  the settings stay as they were: MSI_MESSAGE_RETENTION") && $0.hasSuffix("(msi-message-log)")
                }
            }
            try stack.configuration.write()
            try await stack.reload(until: "the settings were read again")
        }

        @Test("A second msi up names the process of the first, even if that is stopped, and does not affect it")
        func holderOfTheLock() async throws {
            func refusal() async throws -> String {
                let second = try await withFailingUp(in: stack.stateDirectory)
                #expect(second.exitCode == 1)
                #expect(second.lines.contains { $0.contains(stack.stateDirectory) && $0.contains("another msi is at work") })
                return second.lines.joined(separator: "\n")
            }
            let id = try #require(try await refusal().firstMatch(of: /The lock is held by process (\d+) \(msi up\)$/)?.1)
            stack.program.signal(SIGSTOP)
            let words = try await perform {
                try await refusal()
            } finally: {
                stack.program.signal(SIGCONT)
            }
            #expect(words.hasSuffix("process \(id) (msi up), which is stopped: kill -CONT \(id)"))
            try await stack.healthy()
        }

        @Test("The greeting has the address of the students' app, and says which process serves its metrics where")
        func metrics() async throws {
            let app = try #require(stack.program.lines.first { $0.hasPrefix("  app  ") })
            #expect(app == "  app      http://127.0.0.1:\(stack.portal.port)/app/, for students' browsers")
            let line = try #require(stack.program.lines.first { $0.hasPrefix("  metrics  ") })
            let first = try #require(line.firstMatch(of: /127\.0\.0\.1:(\d+)\/metrics/).flatMap { Int($0.1) })
            #expect(line.hasPrefix("  metrics  http://127.0.0.1:\(first)/metrics (\(Stack.services[0])), \(first + 1) ("))
            for (index, service) in Stack.services.enumerated() {
                let metrics = Portal(port: first + index, http: stack.portal.http, token: nil)
                for method in [HTTPMethod.GET, .HEAD] {
                    #expect(try await metrics.call(method, "/metrics").status == 200, "\(method) \(service)")
                }
                #expect(index == 0 || line.contains(", \(first + index) (\(service))"), "\(line)")
            }
        }
    }
}

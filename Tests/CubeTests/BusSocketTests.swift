import CommandBus
import FoundationEssentials
import Glibc
import Schemas
import TestSupport
import Testing

/// Misuse of a service's bus sockets and their files by other programs of the same user.
@Suite("Cube service's bus sockets", .timeLimit(.minutes(10)))
struct BusSocketTests {
    private static let sockets = ["cube.sock", "cube-events.sock"]

    /// The tests themselves need descriptors for their connections.
    init() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, 8_192)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    @Test("Socket files that are removed or replaced are created again, and new clients and subscribers find them")
    func removedFiles() async throws {
        try await withTemporaryFolder { folder in
            try await RunningCube.with(in: folder) { cube in
                let run = "\(folder)/run"
                let removals: [(String, () throws -> Void)] = [
                    (
                        "the sockets",
                        { for name in Self.sockets { try FileManager.default.removeItem(atPath: "\(run)/\(name)") } }
                    ),
                    ("the folder", { try FileManager.default.removeItem(atPath: run) }),
                    (
                        "replaced sockets",
                        {
                            for name in Self.sockets {
                                try FileManager.default.removeItem(atPath: "\(run)/\(name)")
                                // As after a killed process.
                                #expect(Self.makeStaleSocket("\(run)/\(name)"))
                            }
                        }
                    ),
                ]
                for (what, remove) in removals {
                    try remove()
                    try await withBus { bus in
                        let client = try CommandClient(bus: bus, endpoints: [cube.endpoint], logger: quietLogger)
                        try await eventually { await client.failure(of: ReadCube()) == nil }
                        let versions = try await cube.listen()
                        let added = try await client.request(AddChannel(channel: NamedDraft(name: what, desc: "")))
                        for await version in versions where version == added.version { break }
                        #expect(try await cube.snapshot().version == added.version)
                    }
                }
                #expect(cube.process.log.contains("the socket's file was removed, and is there again"))
            }
        }
    }

    private static func makeStaleSocket(_ path: String) -> Bool {
        mknod(path, S_IFSOCK | 0o600, 0) == 0
    }

    @Test(
        "1,100 idle connections to each socket do no harm under Debian's limit of descriptors, nor under a lower one",
        arguments: ["-S -n 1024", "-n 120"])
    func idleConnections(limit: String) async throws {
        try await withTemporaryFolder { folder in
            try await withLimitedCube(in: folder, limit) { process, client in
                for name in Self.sockets {
                    let connections = try (0..<1_100).map { _ in try RawConnection(to: "\(folder)/run/\(name)") }
                    #expect(await client.failure(of: ReadCube()) == nil)
                    #expect(process.isRunning, "\(process.log.suffix(1_000))")
                    withExtendedLifetime(connections) {}
                }
                try await withBus { bus in
                    let next = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/cube.sock"], logger: quietLogger)
                    try await eventually { await next.failure(of: ReadCube()) == nil }
                }
                if limit == "-n 120" { try await eventually { process.log.contains("connections were refused") } }
            }
        }
    }

    /// Runs a cube with a limit of `ulimit`.
    private func withLimitedCube(
        in folder: String, _ limit: String, _ body: (ChildProcess, CommandClient) async throws -> Void
    ) async throws {
        let path = ServiceProcess.executables.appending(path: "msi-cube").path(percentEncoded: false)
        let process = try await ChildProcess(
            URL(filePath: "/bin/sh"), ["-c", "ulimit \(limit); exec \(path)"],
            environment: ["MSI_STATE_DIR": folder, "MSI_SUPERVISED": "true", "SWIFT_BACKTRACE": "enable=no"],
            logFile: "\(folder)/cube.log")
        try await process.waitForLog { $0.contains("\"message\":\"ready\"") ? () : nil }
        try await withBus { bus in
            let client = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/cube.sock"], logger: quietLogger)
            #expect(await client.failure(of: ReadCube()) == nil)
            try await body(process, client)
        }
        #expect(await process.stop() == 0)
    }

    @Test(
        "A message without an end is cut off before it fills the memory",
        arguments: [("cube.sock", "DEALER"), ("cube-events.sock", "SUB")], [0, 1_000, 1 << 20])
    func endlessMessage(socket: (name: String, peer: String), frameSize: Int) async throws {
        try await withTemporaryFolder { folder in
            try await RunningCube.with(in: folder) { cube in
                _ = try await cube.snapshot()
                let before = try ProcessUsage(of: cube.process.identifier).resident
                let connection = try RawConnection(to: "\(folder)/run/\(socket.name)")
                try connection.greet(as: socket.peer)
                // With frames of a MiB this is 256 MiB. With empty frames it is more than any message needs.
                let wasCut = (0..<(frameSize > 1_000 ? 256 : 100_000)).contains { _ in !connection.sendFrameWithMore(frameSize) }
                #expect(wasCut)
                let after = try ProcessUsage(of: cube.process.identifier).resident
                // 16 MiB of frames, and at most 18 MiB of buffers for them.
                #expect(after - before < 40_000, "KiB")
                #expect(await cube.client.failure(of: ReadCube()) == nil)
            }
        }
    }

    @Test("A subscriber that subscribes without end is disconnected")
    func endlessSubscriptions() async throws {
        try await withTemporaryFolder { folder in
            try await RunningCube.with(in: folder) { cube in
                let connection = try RawConnection(to: "\(folder)/run/cube-events.sock")
                try connection.greet(as: "SUB")
                let wasCut = (0..<100_000).contains { number in
                    let topic = Array("topic \(number)".utf8)
                    return !connection.send([0, UInt8(topic.count + 1), 1] + topic)
                }
                #expect(wasCut)
                let versions = try await cube.listen()
                let added = try await cube.client.request(AddChannel(channel: NamedDraft(name: "n", desc: "")))
                for await version in versions where version == added.version { break }
            }
        }
    }
}

import Bus
import FoundationEssentials
import Glibc
import Schemas
import TestSupport
import Testing

/// Misuse of a service's bus sockets and their files by other programs of the same user, and of its TCP ports by peers without
/// a key.
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

    @Test("1,100 idle connections to each socket do no harm under Debian's limit of descriptors")
    func idleConnections() async throws {
        try await withTemporaryFolder { folder in
            try await withLimitedCube(in: folder, "-S -n 1024") { process in
                try await withBus { bus in
                    let client = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/cube.sock"], logger: quietLogger)
                    for name in Self.sockets {
                        let connections = try (0..<1_100).map { _ in try RawConnection(to: "\(folder)/run/\(name)") }
                        try await eventually { await client.failure(of: ReadCube()) == nil }
                        #expect(process.isRunning, "\(process.log.suffix(1_000))")
                        withExtendedLifetime(connections) {}
                    }
                    let next = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/cube.sock"], logger: quietLogger)
                    try await eventually { await next.failure(of: ReadCube()) == nil }
                }
            }
        }
    }

    @Test(
        "400 peers without a key neither end nor block a service at its TCP ports, even if they take all its descriptors",
        arguments: ["-S -n 1024", "-n 200"])
    func strangers(limit: String) async throws {
        try await withTemporaryFolder { folder in
            let keys = try BusKeyPair.make()
            let peers = "\(folder)/peers"
            try Data(keys.secret.utf8).write(to: URL(filePath: "\(folder)/key"))
            try Data("127.0.0.1 \(keys.publicKey)\n".utf8).write(to: URL(filePath: peers))
            let ports = [try FreePort.choose(), try FreePort.choose()]
            let endpoints = ports.map { "tcp://127.0.0.1:\($0)" }
            let settings = [
                "MSI_BUS_KEY_FILE": "\(folder)/key", "MSI_BUS_PEERS_FILE": peers, "MSI_CUBE_LISTEN": endpoints[0],
                "MSI_CUBE_EVENTS_LISTEN": endpoints[1],
            ]
            let security = try BusSecurity.encrypted(with: keys, peersFile: peers, logger: quietLogger)
            try await withLimitedCube(in: folder, limit, settings) { process in
                try await withBus(security: security) { bus in
                    let client = try CommandClient(bus: bus, endpoints: [endpoints[0]], logger: quietLogger)
                    try await eventually { await client.failure(of: ReadCube()) == nil }
                    var strangers: [RawConnection] = []
                    for number in 0..<400 {
                        strangers.append(try RawConnection(toPort: ports[number % 2]))
                        strangers[number].send(Self.attempts[number / 2 % Self.attempts.count])
                    }
                    let newcomer = try CommandClient(bus: bus, endpoints: [endpoints[0]], logger: quietLogger)
                    let subscriber = try EventSubscriber(bus: bus, endpoints: [endpoints[1]], logger: quietLogger)
                    try await eventually("the service has closed all of them") {
                        #expect(await client.failure(of: Ping()) == nil)
                        strangers.removeAll(where: \.isOver)
                        return strangers.isEmpty
                    }
                    try await eventually("a client that came after them is served") {
                        await newcomer.failure(of: ReadCube()) == nil
                    }
                    for await case .event in subscriber.events { break }
                    #expect(process.isRunning, "\(process.log.suffix(1_000))")
                }
            }
        }
    }

    /// What peers without a key send to a port that encrypts.
    private static let attempts: [[UInt8]] = {
        func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
        func greeting(_ mechanism: String) -> [UInt8] {
            [0xFF] + zeros(8) + [0x7F, 3, 1] + mechanism.utf8 + zeros(52 - mechanism.utf8.count)
        }
        let curve = greeting("CURVE")
        let noise = (0..<2_000).map { UInt8(truncatingIfNeeded: $0 * $0 / 3) }
        return [
            // Nothing, a part of ZMTP's greeting, all of it, and one without encryption.
            [], Array(curve.prefix(20)), curve, greeting("NULL"),
            [0xFF] + noise,
            // A frame of 4 EiB, and the beginning of one of 15 MiB.
            curve + [2, 0x40] + zeros(7),
            curve + [6] + zeros(5) + [0xF0, 0, 0] + zeros(32 << 10),
            // A HELLO command without encryption.
            curve + [4, 200, 5] + "HELLO".utf8 + [1, 0] + noise.prefix(192),
        ]
    }()

    /// Runs a cube with a limit of `ulimit`.
    private func withLimitedCube(
        in folder: String, _ limit: String, _ settings: [String: String] = [:], _ body: (ChildProcess) async throws -> Void
    ) async throws {
        let path = ServiceProcess.executables.appending(path: "msi-cube").path(percentEncoded: false)
        let environment = ["MSI_STATE_DIR": folder, "MSI_SUPERVISED": "true", "SWIFT_BACKTRACE": "enable=no"]
        let process = try await ChildProcess(
            URL(filePath: "/bin/sh"), ["-c", "ulimit \(limit); exec \(path)"],
            environment: environment.merging(settings) { $1 }, logFile: "\(folder)/cube.log")
        try await process.waitForLog { $0.contains("\"message\":\"ready\"") ? () : nil }
        try await body(process)
        #expect(await process.stop() == 0)
    }
}

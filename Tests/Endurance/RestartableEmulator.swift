import FoundationEssentials
import Base
import NIOHTTP1
import Synchronization
import TestSupport

/// The emulator, which keeps its port over restarts and changes its behaviour.
final class RestartableEmulator: Sendable {
    private let state: String
    private let port: Int
    private let process: Mutex<ServiceProcess>
    private let found = Mutex<[String]>([])

    /// - Parameter folder: The state directory.
    init(in folder: String) async throws {
        state = folder
        port = try FreePort.choose()
        // Without an archive, so that the emulator itself does not grow.
        try Data(#"{"archive":{"keep":0}}"#.utf8).write(to: URL(filePath: folder + "/behaviour.json"))
        process = Mutex(try await Self.start(at: port, in: folder))
    }

    /// The folder of its key file and certificates.
    var folder: String { state + "/fcm-emulator" }
    var url: String { "https://127.0.0.1:\(port)" }
    /// Unexpected behaviour, such as an unexpected end.
    var problems: [String] { found.withLock { $0 } }

    /// Replaces the current fault phase.
    func put(_ phase: FaultPhase, seed: Int64) async throws {
        let process = process.withLock { $0 }
        if !process.isRunning {
            found.withLock { $0.append("the emulator ended by itself, see \(process.logFile)") }
            try await restart(by: .kill, away: .zero)
        }
        if let outage = phase.outage { return try await restart(by: outage.end, away: outage.length) }
        try await withServer { server in
            try await server.setFaults(phase.faults, seed: seed)
            for section in ["connections", "quotas", "oauth"] {
                if let document = phase.sections[section] {
                    try await server.control(.PUT, section, document)
                } else {
                    try await server.control(.DELETE, section)
                }
            }
        }
    }

    func restart(by end: FaultPhase.Outage.End, away length: Duration) async throws {
        let process = process.withLock { $0 }
        switch end {
        case .stop: await process.stop()
        case .kill: await process.kill()
        }
        try await Task.sleep(for: length)
        let next = try await Self.start(at: port, in: state)
        self.process.withLock { $0 = next }
    }

    func counts() async throws -> FCMServer.Counts {
        try await withServer { try await $0.counts() }
    }

    /// Kills it.
    func end() async {
        await process.withLock { $0 }.kill()
    }

    private static func start(at port: Int, in folder: String) async throws -> ServiceProcess {
        try await ServiceProcess(
            "msi-fcm-emulator", in: folder,
            settings: [
                "MSI_FCM_EMULATOR_PORT": String(port), "MSI_FCM_EMULATOR_BEHAVIOUR_FILE": folder + "/behaviour.json",
            ])
    }

    /// Lends a client for one call: the emulator may restart between calls.
    private func withServer<Value>(_ body: (FCMServer) async throws -> Value) async throws -> Value {
        try await withHTTPClient(trusting: folder + "/ca.pem") { http in
            try await body(FCMServer(port: port, folder: folder, http: http))
        }
    }
}

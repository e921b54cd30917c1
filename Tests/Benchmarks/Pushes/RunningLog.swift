import FoundationEssentials
import Base
import Bus
import Schemas
import TestSupport

/// The message log's executable, with durable files on a disk, at a relay.
struct RunningLog: Sendable {
    let process: ServiceProcess
    let client: CommandClient
    let bus: Bus
    /// Where it publishes its events.
    let events: String

    /// The sender of everything that the benchmarks log.
    static let caller = CallerContext(actor: "benchmark")

    /// Makes a state directory.
    ///
    /// - Parameter folder: The folder for it, on a disk. The path is short, because it will contain sockets.
    static func makeState(_ name: String = "state", in folder: String) throws -> String {
        let path = "\(folder)/\(name)"
        // The services require that other users may not enter it.
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        return path
    }

    /// Runs a body while it is running.
    ///
    /// - Parameter folder: Its state directory, which may have an archive.
    static func with<Value>(
        in folder: String, relay: RunningRelay, _ body: (RunningLog) async throws -> Value
    ) async throws -> Value {
        let (commands, events) = ("ipc://\(folder)/log.sock", "ipc://\(folder)/events.sock")
        return try await withServices(["msi-message-log"], in: folder) { _, _ in
            [
                "MSI_MESSAGE_LOG_LISTEN": commands, "MSI_MESSAGE_LOG_EVENTS_LISTEN": events,
                "MSI_FCM_RELAY_ENDPOINTS": relay.endpoint,
            ]
        } _: { running in
            try await withBus { bus in
                let client = try CommandClient(bus: bus, endpoints: [commands], logger: quietLogger)
                return try await body(RunningLog(process: running[0], client: client, bus: bus, events: events))
            }
        }
    }

    /// Runs a body while a follower gets the events of ended pushes, and everything is warm: connections, and the relay's access token.
    func withFollower<Value>(_ body: (EndedPushes) async throws -> Value) async throws -> Value {
        try await EndedPushes.with(at: events, bus: bus) { ended in
            ended.begin("warm-up ")
            try await eventually("events of ended pushes arrive", every: .milliseconds(200)) {
                _ = try await client.request(
                    SamplePush.command("warm-up \(ObjectID())", to: 0..<1, fairnessKey: "warm-up"), context: Self.caller)
                return ended.count > 0
            }
            return try await body(ended)
        }
    }
}

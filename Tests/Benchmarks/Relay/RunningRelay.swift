import FoundationEssentials
import TestSupport

/// The relay's executable without a rate limit, and a cheap program that drives it by its command socket.
struct RunningRelay {
    let process: ServiceProcess
    let endpoint: String
    private let payloadFile: String
    private let driver: Peer

    /// Settings without a limit by FCM's quota or by the ramp.
    static let unlimitedPace = ["MSI_FCM_QUOTA": "1000000000", "MSI_FCM_QUOTA_SHARE": "100", "MSI_FCM_RAMP": "0"]

    /// The sends of one command: a notification and data.
    static let sendsOfCommand = 2

    /// Starts it.
    ///
    /// - Parameters:
    ///   - url: FCM's URL.
    ///   - serviceAccountFile: The service account's key file.
    ///   - certificateFile: The trusted certificate.
    ///   - folder: The folder for its files. The path must be short, because it contains its socket.
    ///   - peers: The folder of the peers' executables.
    init(
        at url: String, serviceAccountFile: String, certificateFile: String, message: RelayedMessage, in folder: String,
        peers: String
    ) async throws {
        endpoint = "ipc://\(folder)/relay.sock"
        payloadFile = message.payloadFile
        driver = Peer(path: peers + "/drive_relay")
        process = try await ServiceProcess(
            "msi-fcm-relay", in: folder,
            settings: [
                "MSI_FCM_RELAY_LISTEN": endpoint, "MSI_FCM_ENDPOINT": url, "MSI_FCM_CA_FILE": certificateFile,
                "MSI_FCM_SERVICE_ACCOUNT_FILE": serviceAccountFile,
            ].merging(Self.unlimitedPace) { given, _ in given })
    }

    /// Sends commands as fast as possible.
    ///
    /// - Parameters:
    ///   - commands: The number of commands.
    ///   - inFlight: The maximum number of pending commands. The relay's own limit is 1,024.
    /// - Returns: The accepted sends a second, and the relay's CPU time for each in microseconds.
    func drive(commands: Int, inFlight: Int = 1_000) async throws -> (rate: Double, processorTime: Double) {
        let before = try ProcessUsage(of: process.identifier).processorTime
        let result = try await driver.run([endpoint, payloadFile, String(inFlight), String(commands), "0"])
        let used = try ProcessUsage(of: process.identifier).processorTime - before
        return (result.count / result.seconds, used / result.count * 1e6)
    }

    /// Sends commands at a rate, as an open loop.
    ///
    /// - Returns: The median and the 99th percentile of the milliseconds from a command's due time to its reply.
    func latency(commands: Int, rate: Double) async throws -> (p50: Double, p99: Double) {
        let result = try await driver.run([endpoint, payloadFile, "1000", String(commands), String(rate)])
        return (result.count, result.seconds)
    }

    func stop() async {
        await process.stop()
    }
}

/// The FCM emulator's executable, without a quota and without an archive.
enum Emulator {
    /// Its settings.
    ///
    /// - Parameter folder: Its state directory, which exists.
    static func settings(in folder: String) throws -> [String: String] {
        let behaviour = folder + "/behaviour.json"
        try Data(#"{"archive":{"keep":0},"quotas":{"project":[]}}"#.utf8).write(to: URL(filePath: behaviour))
        return ["MSI_FCM_EMULATOR_PORT": "0", "MSI_FCM_EMULATOR_BEHAVIOUR_FILE": behaviour]
    }
}

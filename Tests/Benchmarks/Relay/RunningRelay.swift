import TestSupport

/// The relay's own executable, without a limit to its pace, and a cheap programme that drives it by its command socket.
struct RunningRelay {
    let process: ServiceProcess
    private let endpoint: String
    private let payloadFile: String
    private let driver: Peer

    /// Settings with which neither FCM's quota nor the ramp after a start limits its pace.
    static let unlimitedPace = ["MSI_FCM_QUOTA": "1000000000", "MSI_FCM_QUOTA_SHARE": "100", "MSI_FCM_RAMP": "0"]

    /// Of one command: a notification and data.
    static let sendsOfCommand = 2

    /// Starts it.
    ///
    /// - Parameters:
    ///   - url: Where FCM is.
    ///   - serviceAccountFile: Who it is there.
    ///   - certificateFile: Whom it trusts.
    ///   - folder: A place for its files; short, since its socket is there.
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

    /// Hands it commands, as fast as it takes them.
    ///
    /// - Parameters:
    ///   - commands: How many.
    ///   - inFlight: How many may be without a reply; the relay itself takes 1,024.
    /// - Returns: How many sends FCM accepted a second, and the relay's processor time for each in microseconds.
    func drive(commands: Int, inFlight: Int = 1_000) async throws -> (rate: Double, processorTime: Double) {
        let before = try ProcessUsage(of: process.identifier).processorTime
        let result = try await driver.run([endpoint, payloadFile, String(inFlight), String(commands), "0"])
        let used = try ProcessUsage(of: process.identifier).processorTime - before
        return (result.count / result.seconds, used / result.count * 1e6)
    }

    /// Hands it commands at a rate, whether it keeps up or not.
    ///
    /// - Returns: The milliseconds from the moment when a command was due to its reply: the median, and the 99th percentile.
    func latency(commands: Int, rate: Double) async throws -> (p50: Double, p99: Double) {
        let result = try await driver.run([endpoint, payloadFile, "1000", String(commands), String(rate)])
        return (result.count, result.seconds)
    }

    func stop() async {
        await process.stop()
    }
}

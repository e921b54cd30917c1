import Base
import FoundationEssentials
import Glibc
import ServiceKit
import TestSupport

/// Students' phones, in a process of `msi-phone fleet`. Like FCM they are not on the machine: they have power, and their clocks are
/// right.
struct PhoneFleet: Sendable {
    private let process: ChildProcess
    private let count: Int
    private let unsteady: Int
    private let accounts: Int

    /// How long the phones may take to register and subscribe.
    private static let startTimeout = Duration.seconds(180)
    /// The phones have a minute to fetch what they miss, and then report.
    private static let stopTimeout = Duration.seconds(240)
    /// Of twenty phones, three are offline at times, three have their app killed at times, and three register late.
    private static let unsteadyShare = 0.45

    /// Starts the phones, and returns when the steady ones are subscribed, and the persons are signed in.
    ///
    /// - Parameter accounts: How many persons have two of the phones; at most as many as the steady ones are enough for.
    init(
        of count: Int, accounts: Int, gatewayPort: Int, emulatorPort: Int, identityPort: Int, in folder: String
    ) async throws {
        self.count = count
        unsteady = Int(Double(count) * Self.unsteadyShare)
        self.accounts = min(accounts, (count - unsteady) / 2)
        process = try await ChildProcess(
            ServiceProcess.executables.appending(path: ServiceEntry.phoneFleet.executable),
            ["fleet", "--count", "\(count)", "--unsteady", "\(unsteady)", "--accounts", "\(self.accounts)"],
            environment: [
                Setting.stateDirectory.declaration.name: folder,
                Setting.gatewayPort.declaration.name: String(gatewayPort),
                Setting.fcmEmulatorPort.declaration.name: String(emulatorPort),
                Setting.identityEmulatorPort.declaration.name: String(identityPort),
                Setting.supervised.declaration.name: "true", "SWIFT_BACKTRACE": "enable=no",
            ],
            logFile: folder + "/log/phones.log")
        try await process.waitForLog(within: Self.startTimeout) { $0.contains("\"message\":\"ready\"") ? () : nil }
    }

    /// Stops the phones after they have fetched what they miss.
    func stop() async -> PhoneEvidence {
        process.signal(SIGTERM)
        do {
            try await eventually("their report", within: Self.stopTimeout, every: .milliseconds(100)) { !process.isRunning }
        } catch {
            await process.kill()
        }
        let status = await process.end()
        let report = status == 0 ? FleetCount(log: process.log.split(separator: "\n")) : nil
        return PhoneEvidence(
            phones: count, unsteady: unsteady, accounts: accounts, report: report, logFile: process.logFile)
    }

    func kill() async {
        await process.kill()
    }
}

extension Portal {
    /// How many phones have reported each message, once the counts are as expected, or the time is over.
    func receipts(expected: [String: Int], within limit: Duration) async throws -> [String: Int] {
        let deadline = ContinuousClock.now + limit
        while true {
            let receipts = try await receipts()
            if receipts == expected || ContinuousClock.now >= deadline { return receipts }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func receipts() async throws -> [String: Int] {
        try await all("messages", at: "/message?limit=200").reduce(into: [:]) { receipts, message in
            if let key = message["msi_key"]?.string, let received = message["receipts"]?["received"]?.integer {
                receipts[key] = Int(received)
            }
        }
    }
}

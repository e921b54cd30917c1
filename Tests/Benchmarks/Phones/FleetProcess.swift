import FoundationEssentials
import JSON
import TestSupport

/// A run of `msi-phone fleet`.
enum FleetProcess {
    /// What the fleet reports at its end; the times are milliseconds.
    struct Report {
        /// Until all phones were ready, in seconds.
        let setUp: Double
        let expected: Int
        let doubled: Int
        let missing: Int
        let p50: Double
        let p99: Double
        let last: Double
    }

    /// Waits until all phones have a number of messages.
    static func reached(by messages: Int, _ fleet: ChildProcess) async throws {
        try await fleet.waitForLog(within: .seconds(600)) { $0.ranges(of: "every phone has it").count >= messages ? () : nil }
    }

    /// Runs a body while a fleet is ready.
    ///
    /// - Throws: ``PeerFailure`` if the fleet does not report.
    static func with<Value>(
        _ phones: Int, at stack: MessageStack, in folder: String, _ body: (ChildProcess) async throws -> Value
    ) async throws -> (Report, Value) {
        let begin = ContinuousClock.now
        let fleet = try ChildProcess(
            ServiceProcess.executables.appending(path: "msi-phone"), ["fleet", "--count", "\(phones)"],
            environment: [
                "MSI_STATE_DIR": folder, "MSI_GATEWAY_PORT": "\(stack.portal.port)", "MSI_FCM_EMULATOR_PORT": "\(stack.fcm.port)",
                "SWIFT_BACKTRACE": "enable=no",
            ],
            logFile: folder + "/fleet-\(UInt32.random(in: 0...UInt32.max)).log")
        let value: Value
        let setUp: Duration
        do {
            try await fleet.waitForLog(within: .seconds(600)) { $0.contains("\"message\":\"ready\"") ? () : nil }
            setUp = ContinuousClock.now - begin
            value = try await body(fleet)
        } catch {
            await fleet.kill()
            throw error
        }
        guard await fleet.stop() == 0, let line = fleet.log.split(separator: "\n").last,
            let document = try? JSONValue(parsing: Array(line.utf8)), let expected = document["expected"]?.integer
        else { throw PeerFailure(description: "the fleet said: \(fleet.log.suffix(1_000))") }
        func milliseconds(_ name: String) -> Double { document[name]?.number.flatMap { Double($0) } ?? 0 }
        return (
            Report(
                setUp: (setUp / .seconds(1)).twoDigits, expected: Int(expected), doubled: Int(document["doubled"]?.integer ?? -1),
                missing: Int(document["missing"]?.integer ?? -1), p50: milliseconds("p50_ms"), p99: milliseconds("p99_ms"),
                last: milliseconds("max_ms")),
            value
        )
    }
}

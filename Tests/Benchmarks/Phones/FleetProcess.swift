import FoundationEssentials
import Base
import TestSupport

/// A run of `msi-phone fleet`.
struct FleetProcess {
    private let process: ChildProcess

    /// Registration, subscription, and the first look at the hub, of all phones.
    private static let startTimeout = Duration.seconds(900)

    var identifier: Int32 { process.identifier }

    /// Until the last phone had each message that all phones have, by `msi_key`, in milliseconds from its `timestamp`.
    var lastPhone: [String: Double] {
        process.log.split(separator: "\n").reduce(into: [:]) { delays, line in
            guard line.contains("every phone has it"), let event = try? JSONValue(parsing: Array(line.utf8)),
                let key = event["msi_key"]?.string, let delay = event["ms"]?.string.flatMap({ Double($0) })
            else { return }
            delays[key] = delay
        }
    }

    /// Waits until all phones have some messages.
    ///
    /// - Returns: The delays of the last phone in milliseconds, in the order of the keys.
    func delays(of keys: [String], within limit: Duration = .seconds(600)) async throws -> [Double] {
        try await eventually("all phones have \(keys.count) messages", within: limit, every: .milliseconds(200)) {
            let times = lastPhone
            let known = keys.compactMap { times[$0] }
            return known.count == keys.count ? known : nil
        }
    }

    /// Runs a body while a fleet is ready.
    ///
    /// - Returns: Until all phones were ready, in seconds; what they have received; and the body's value.
    /// - Throws: ``PeerFailure`` if the fleet does not report, or if a phone lacks a message or has one twice.
    static func with<Value>(
        _ phones: Int, at stack: MessageStack, in folder: String, _ body: (FleetProcess) async throws -> Value
    ) async throws -> (setUp: Double, count: FleetCount, Value) {
        guard let emulator = stack.emulator else { throw PeerFailure(description: "phones need the FCM emulator") }
        let begin = ContinuousClock.now
        let process = try await ChildProcess(
            ServiceProcess.executables.appending(path: "msi-phone"), ["fleet", "--count", "\(phones)"],
            environment: [
                "MSI_STATE_DIR": folder, "MSI_GATEWAY_PORT": "\(stack.portal.port)", "MSI_FCM_EMULATOR_PORT": "\(emulator.port)",
                "MSI_SUPERVISED": "true", "SWIFT_BACKTRACE": "enable=no",
            ],
            logFile: folder + "/fleet-\(UInt32.random(in: 0...UInt32.max)).log")
        let value: Value
        let setUp: Duration
        do {
            try await process.waitForLog(within: startTimeout) { $0.contains("\"message\":\"ready\"") ? () : nil }
            setUp = ContinuousClock.now - begin
            value = try await body(FleetProcess(process: process))
        } catch {
            await process.kill()
            throw error
        }
        guard await process.stop() == 0, let count = FleetCount(log: process.log.split(separator: "\n")) else {
            throw PeerFailure(description: "the fleet said: \(process.log.suffix(1_000))")
        }
        guard count.phones == phones, count.missing == 0, count.doubled == 0 else {
            throw PeerFailure(description: "of \(count.expected), \(count.missing) are missing, \(count.doubled) doubled")
        }
        return ((setUp / .seconds(1)).twoDigits, count, value)
    }
}

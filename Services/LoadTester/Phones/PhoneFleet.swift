import ArgumentParser
import FoundationEssentials
import ServiceKit
import Subprocess
import SystemPackage
import UnixSignals

/// A process of `msi-phone fleet` beside a load: phones on which the load's messages arrive.
struct PhoneFleet: Sendable {
    private let output: FleetOutput
    private let signal: @Sendable (Signal) -> Void

    /// For ten thousand phones on a small machine.
    private static let startTimeout = Duration.seconds(600)
    /// How long no further message may become complete before the phones are asked what they have.
    private static let patience = Duration.seconds(20)
    /// The phones have a minute to fetch what they miss, and then report.
    private static let stopTimeout = Duration.seconds(180)
    private static let pollingPause = Duration.milliseconds(50)

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a body while a fleet is ready. The process ends with this one in any case.
    ///
    /// - Parameters:
    ///   - count: The number of phones.
    ///   - gateway: The gateway's URL.
    /// - Throws: ``Failure`` if the fleet does not become ready, or the body's error.
    static func with<Value: Sendable>(
        _ count: Int, gateway: String, _ body: @Sendable (PhoneFleet) async throws -> Value
    ) async throws -> Value {
        var options = PlatformOptions()
        // In a separate process group: Ctrl-C ends the load first, and the phones then report.
        options.processGroupID = 0
        let settings = [
            Setting.gatewayURL.declaration.name: gateway, Setting.supervised.declaration.name: "true", "MSI_LOG_FORMAT": "json",
            "MSI_LOG_LEVEL": "info",
        ]
        let result = try await Subprocess.run(
            .path(FilePath(try executable())), arguments: ["fleet", "--count", "\(count)"],
            environment: .inherit.updating(
                Dictionary(uniqueKeysWithValues: settings.map { (Environment.Key(stringLiteral: $0), $1) })),
            platformOptions: options, input: .inputWriter, output: .sequence, error: .combinedWithOutput
        ) { execution in
            let output = FleetOutput()
            let reading = Task {
                for try await line in execution.standardOutput.strings() { output.take(line) }
                output.end()
            }
            // This fails only if the process has ended already.
            let fleet = PhoneFleet(output: output) { try? execution.send(signal: $0) }
            let outcome: Result<Value, any Error>
            do {
                try await fleet.waitUntilReady()
                outcome = .success(try await body(fleet))
            } catch {
                outcome = .failure(error)
            }
            // It has reported, or there is nothing to report.
            fleet.signal(.kill)
            try await execution.standardInputWriter.finish()
            try await reading.value
            return outcome
        }
        return try result.closureResult.get()
    }

    /// The path of the executable beside this one.
    ///
    /// - Throws: `ValidationError` if there is none.
    private static func executable() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = URL(filePath: own).deletingLastPathComponent()
        let path = folder.appending(path: ServiceEntry.phoneFleet.executable).path(percentEncoded: false)
        guard FileManager.default.isExecutableFile(atPath: path) else { throw ValidationError("--phones: \(path) is not there") }
        return path
    }

    /// Ctrl-C ends the wait, so that the load's channel is removed.
    private func waitUntilReady() async throws {
        let waiting = Task { try await waitForReadiness() }
        let interruption = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { waiting.cancel() }
        }
        defer { interruption.cancel() }
        try await waiting.value
    }

    private func waitForReadiness() async throws {
        let deadline = ContinuousClock.now + Self.startTimeout
        while !output.isReady {
            guard !output.hasEnded, ContinuousClock.now < deadline else {
                throw Failure(description: "--phones: the phones are not ready: \(output.tail)")
            }
            try await Task.sleep(for: Self.pollingPause)
        }
    }

    /// Waits until every phone has all messages, or no more of them become complete; then the phones fetch what they miss, and count.
    ///
    /// - Parameter accepted: The keys of the accepted messages.
    /// - Throws: ``Failure`` if there is no report.
    func report(accepted: [String]) async throws -> PhoneReport {
        let keys = Set(accepted)
        var (complete, deadline) = (0, ContinuousClock.now + Self.patience)
        while !output.hasEnded, ContinuousClock.now < deadline {
            let now = output.complete(of: keys)
            if now == keys.count { break }
            if now > complete { (complete, deadline) = (now, .now + Self.patience) }
            try await Task.sleep(for: Self.pollingPause)
        }
        signal(.terminate)
        deadline = .now + Self.stopTimeout
        while !output.hasEnded, ContinuousClock.now < deadline { try await Task.sleep(for: Self.pollingPause) }
        guard output.hasEnded, let report = output.report(accepted: accepted) else {
            throw Failure(description: "--phones: the phones have not reported: \(output.tail)")
        }
        return report
    }
}

import ArgumentParser
import FoundationEssentials
import Base
import ServiceKit
import Subprocess
import Synchronization
import SystemPackage
import UnixSignals

/// Runs `msi-phone fleet` during a load: its phones receive the load's messages.
struct PhoneFleet: Sendable {
    private let output: FleetOutput
    private let signal: @Sendable (Signal) -> Void

    /// Enough for ten thousand phones on a small machine.
    private static let startTimeout = Duration.seconds(600)
    /// The phones are asked what they have when no further message has reached every phone for this time.
    private static let patience = Duration.seconds(20)
    /// Longer than the minute that the phones have to fetch what they miss.
    private static let stopTimeout = Duration.seconds(180)
    private static let pollingPause = Duration.milliseconds(50)

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a body while a fleet is ready. The process never outlives this one.
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
            // It has reported, or it never became ready.
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

    /// Waits until the fleet is ready. Ctrl-C cancels the wait, so that the caller still removes the load's channel.
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

    /// Waits until every phone has all messages, or no further message reaches every phone. Then the phones fetch what they miss, and
    /// count.
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

/// What a fleet of phones has written so far, line by line.
final class FleetOutput: Sendable {
    private struct State {
        var isReady = false
        /// The `msi_key`s of the messages that every phone has received.
        var complete: Set<String> = []
        /// On how many phones each message is, at the end.
        var received: [String: Int] = [:]
        var lines: [String] = []
        var hasEnded = false
    }

    /// Enough to explain why a fleet did not start.
    private static let maxLines = 3

    private let state = Mutex(State())

    var isReady: Bool { state.withLock(\.isReady) }
    var hasEnded: Bool { state.withLock(\.hasEnded) }
    /// The last lines.
    var tail: String { state.withLock(\.lines).joined(separator: "\n") }

    func take(_ line: String) {
        let document = try? JSONValue(parsing: Array(line.utf8))
        state.withLock { state in
            state.lines = (state.lines + [line]).suffix(Self.maxLines)
            let key = document?["msi_key"]?.string
            switch document?["message"]?.string {
            case "ready": state.isReady = true
            case "every phone has it": if let key { state.complete.insert(key) }
            case "received": if let key { state.received[key] = document?["phones"]?.string.flatMap { Int($0) } }
            default: break
            }
        }
    }

    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// How many of these messages every phone has.
    func complete(of keys: Set<String>) -> Int {
        state.withLock { $0.complete.intersection(keys).count }
    }

    /// The report, once the fleet has ended; `nil` if its last line is not a report.
    func report(accepted: [String]) -> PhoneReport? {
        state.withLock { state in
            guard let line = state.lines.last, let document = try? JSONValue(parsing: Array(line.utf8)) else { return nil }
            return PhoneReport(line: document, received: state.received, accepted: accepted)
        }
    }
}

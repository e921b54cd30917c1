import FoundationEssentials
import Glibc
import ServiceKit
import TestSupport

/// The state directory of ``HarmTests/HarmedProduct``.
enum HarmedState {
    /// Writes the configuration file, and finds free ports for the metrics.
    static func prepare(_ stateDirectory: String) throws -> [String: String] {
        let file = ConfigurationFile(of: stateDirectory)
        try file.write()
        return SystemTests.noLimits.merging([
            "MSI_CONFIG_FILE": file.path, "MSI_METRICS_PORT": "\(try LoopbackPort.first(ofFree: Stack.services.count))",
            // A host who has left a study session ends it soon.
            "MSI_STUDY_GRACE": "10",
        ]) { $1 }
    }
}

/// The file of `MSI_CONFIG_FILE`, beside the state directory.
struct ConfigurationFile: Sendable {
    let path: String
    private let stateDirectory: String

    init(of stateDirectory: String) {
        self.stateDirectory = stateDirectory
        path = stateDirectory + ".env"
    }

    /// Writes the state directory, the level of the log, and further settings.
    func write(level: String = "info", _ more: String = "") throws {
        try Data("MSI_STATE_DIR=\(stateDirectory)\nMSI_LOG_LEVEL=\(level)\n\(more)".utf8).write(to: URL(filePath: path))
    }
}

extension Stack {
    var configuration: ConfigurationFile { ConfigurationFile(of: stateDirectory) }

    /// Lets `msi up` read the configuration file, and waits until it has printed one more line like this.
    func reload(until line: String) async throws {
        let count = { program.lines.count { $0 == line } }
        let before = count()
        program.signal(SIGHUP)
        try await eventually("\(line), in \(program.lines.suffix(20))") { count() > before }
    }
}

extension LoopbackPort {
    /// A free port, and all those that follow it.
    static func first(ofFree count: Int) throws -> Int {
        for _ in 0..<100 {
            let first = try free()
            if (first..<first + count).allSatisfy({ obstacle($0) == nil }) { return first }
        }
        throw TooLate("no \(count) free ports in a row")
    }
}

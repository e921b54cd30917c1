import Subprocess
import SystemPackage

/// A program that does the same work without our code.
struct Peer {
    let path: String

    /// The amount of work and the seconds from its output.
    func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (count: Double, seconds: Double) {
        let figures = try await output(arguments, environment: environment).split(whereSeparator: \.isWhitespace).compactMap {
            Double($0)
        }
        guard figures.count == 2 else { throw PeerFailure(description: "\(path) did not print two figures") }
        return (figures[0], figures[1])
    }

    /// Its output, after it has ended with status 0.
    func output(_ arguments: [String], environment: [String: String] = [:]) async throws -> String {
        var updates: [Environment.Key: String?] = [:]
        for (name, value) in environment {
            if let key = Environment.Key(rawValue: name) { updates[key] = value }
        }
        let result = try await Subprocess.run(
            .path(.init(path)), arguments: Arguments(arguments),
            environment: .inherit.updating(updates), output: .string(limit: 10_000),
            error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false))
        guard result.terminationStatus.isSuccess else {
            throw PeerFailure(description: "\(path) failed: \(result.terminationStatus)")
        }
        return result.standardOutput
    }
}

struct PeerFailure: Error, CustomStringConvertible {
    let description: String
}

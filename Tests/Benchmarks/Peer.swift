import Subprocess
import SystemPackage

/// A programme that does the same work without the product.
struct Peer {
    let path: String

    /// What it did, and in how many seconds, as it says itself.
    func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (count: Double, seconds: Double) {
        var updates: [Environment.Key: String?] = [:]
        for (name, value) in environment {
            if let key = Environment.Key(rawValue: name) { updates[key] = value }
        }
        let result = try await Subprocess.run(
            .path(.init(path)), arguments: Arguments(arguments),
            environment: .inherit.updating(updates), output: .string(limit: 1_000),
            error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false))
        let figures = result.standardOutput.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard result.terminationStatus.isSuccess, figures.count == 2 else {
            throw PeerFailure(description: "\(path) failed: \(result.terminationStatus)")
        }
        return (figures[0], figures[1])
    }
}

struct PeerFailure: Error, CustomStringConvertible {
    let description: String
}

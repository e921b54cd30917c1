import Foundation
import TestSupport

/// A temporary folder for one test, removed at its end.
struct TemporaryFolder {
    let path: String

    /// The folder of the emulator's files if this folder is its state directory.
    var emulator: String { "\(path)/fcm-emulator" }

    static func with<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (TemporaryFolder) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { try await body(TemporaryFolder(path: $0)) }
    }

    func text(of file: String) throws -> String {
        try String(contentsOfFile: "\(emulator)/\(file)", encoding: .utf8)
    }

    func write(_ text: String, to file: String) throws {
        try text.write(toFile: "\(emulator)/\(file)", atomically: true, encoding: .utf8)
    }

    /// A file's permission bits.
    func mode(of file: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(emulator)/\(file)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}

import Foundation
import Subprocess
import SystemPackage

/// Makes executable files by a child process.
///
/// If the tests' process wrote such a file itself, a child that another test starts at that moment would have it open for writing, too,
/// and the file could not be run until that child runs its program (ETXTBSY).
package enum ExecutableFile {
    /// The file could not be made.
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Writes a program, such as a script, or replaces it.
    package static func write(_ text: String, to path: String) async throws {
        let draft = path + ".draft"
        try Data(text.utf8).write(to: URL(filePath: draft))
        try await copy(draft, to: path)
        try FileManager.default.removeItem(atPath: draft)
    }

    /// Copies a program.
    package static func copy(_ source: String, to path: String) async throws {
        let result = try await Subprocess.run(
            .path("/usr/bin/install"), arguments: ["--mode=700", source, path], output: .discarded, error: .string(limit: 4_096))
        guard result.terminationStatus.isSuccess else {
            throw Failed(description: "\(path) cannot be made: \(result.standardError)")
        }
    }
}

import ArgumentParser
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

/// Why a backup could not be written, read or restored.
struct BackupFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// How `msi backup` and `msi restore` report errors.
enum BackupErrors {
    /// - Throws: `ExitCode`.
    static func reported(_ progress: ProgressLine, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let code as ExitCode {
            throw code
        } catch {
            progress.clear()
            StandardError.write("msi: \((error as? CommandFailure)?.message ?? "\(error)")\n")
            throw ExitCode(error is ConfigurationError ? EX_CONFIG : EXIT_FAILURE)
        }
    }

    /// A path on the command line, without a slash at its end.
    static func absolute(_ path: String) throws -> String {
        let whole = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        let trimmed = whole.reversed().drop { $0 == "/" }.reversed()
        guard !trimmed.isEmpty else { throw BackupFailure("\(path) is no folder for a backup") }
        return String(trimmed)
    }
}

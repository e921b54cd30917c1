import Logging
import Pages

/// The folders with the portal's files: the shared ones, and its own.
struct PortalFolders: Sendable {
    let all: [PageFolder]

    static var besideExecutable: PortalFolders {
        PortalFolders(all: [.shared, PageFolder(of: "Gateway")])
    }

    /// Reads all files into memory.
    ///
    /// - Throws: An error of the file system, or `SchemaViolation` if the table of the pages or their HTML is missing, or the table is
    ///   damaged.
    func read() throws -> PortalFiles {
        try PortalFiles(Site(reading: all))
    }

    /// The files; `nil` if they cannot be read. Then the gateway serves the API alone, and the log says why.
    func load(logger: Logger) -> PortalFiles? {
        do {
            return try read()
        } catch {
            logger.warning(
                "the portal's pages cannot be read, and the gateway serves only the API",
                metadata: ["folders": "\(all.map(\.path).joined(separator: ", "))", "error": "\(error)"])
            return nil
        }
    }
}

import FoundationEssentials
import Logging

/// The folder of the portal's files. SwiftPM puts it beside the gateway's executable, and an installation keeps it there.
struct PortalFolder: Sendable {
    let path: String

    static var besideExecutable: PortalFolder {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folder = URL(filePath: executable).deletingLastPathComponent()
        return PortalFolder(path: folder.appending(path: "mobile-student-intranet_Gateway.resources/Files").path)
    }

    /// Reads all files into memory.
    ///
    /// - Throws: An error of the file system.
    func read() throws -> PortalFiles {
        let root = URL(filePath: path)
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where FileType(of: name) != nil {
            contents[name] = try Data(contentsOf: root.appending(path: name))
        }
        return PortalFiles(contents)
    }

    /// The files; `nil` if they cannot be read. Then the gateway serves the API alone, and the log says why.
    func load(logger: Logger) -> PortalFiles? {
        do {
            return try read()
        } catch {
            logger.warning(
                "the portal's pages cannot be read, and the gateway serves only the API",
                metadata: ["folder": "\(path)", "error": "\(error)"])
            return nil
        }
    }
}

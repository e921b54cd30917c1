package import FoundationEssentials

/// A folder of files for browsers. SwiftPM puts it beside the executable, and an installation keeps it there.
package struct PageFolder: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// - Parameter target: The target whose resources have the folder `Files`.
    package init(of target: String) {
        let executable = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folder = URL(filePath: executable).deletingLastPathComponent()
        path = folder.appending(path: "mobile-student-intranet_\(target).resources/Files").path
    }

    /// The files that the pages of several programs use: colours and sizes, and modules without a page.
    package static var shared: PageFolder { PageFolder(of: "Pages") }

    /// Reads all files of known types into memory, by their paths in the folder.
    ///
    /// - Throws: An error of the file system.
    package func read() throws -> [String: Data] {
        let root = URL(filePath: path)
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) where FileType(of: name) != nil {
            contents[name] = try Data(contentsOf: root.appending(path: name))
        }
        return contents
    }
}

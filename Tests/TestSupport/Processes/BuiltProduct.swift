import FoundationEssentials

/// The products that were built together with the running program.
package enum BuiltProduct {
    /// The path of an executable, such as `msi`.
    ///
    /// - Throws: ``Missing`` if it has not been built.
    package static func path(of name: String) throws -> String {
        let path = ServiceProcess.executables.appending(path: name).path(percentEncoded: false)
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Missing(path: path) }
        return path
    }

    /// The package folder: the nearest folder above the executables with a manifest.
    package static func packageFolder() throws -> String {
        var folder = ServiceProcess.executables
        while folder.path(percentEncoded: false) != "/" {
            folder = folder.deletingLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path(percentEncoded: false)) {
                return folder.path(percentEncoded: false)
            }
        }
        throw Missing(path: "Package.swift")
    }

    package struct Missing: Error, CustomStringConvertible {
        let path: String

        package var description: String { "\(path) is not there: has it been built?" }
    }
}

import FoundationEssentials

/// What was built together with the programme that is running, a test or another.
package enum BuiltProduct {
    /// The path of an executable, such as `msi`.
    ///
    /// - Throws: ``Missing`` when it has not been built.
    package static func path(of name: String) throws -> String {
        let path = ServiceProcess.executables.appending(path: name).path(percentEncoded: false)
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Missing(path: path) }
        return path
    }

    /// The package that they belong to: the nearest folder above the executables with a manifest.
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

import Foundation

/// A library that replaces functions of the C library in a process, by `LD_PRELOAD`.
package enum PreloadedLibrary {
    package struct NotBuilt: Error, CustomStringConvertible {
        package let description: String
    }

    /// Compiles a library.
    ///
    /// - Parameter source: C source.
    /// - Returns: The library's path.
    /// - Throws: ``NotBuilt`` with the compiler's output.
    package static func build(_ name: String, _ source: String, in folder: String) async throws -> String {
        let (sourceFile, library) = ("\(folder)/\(name).c", "\(folder)/\(name).so")
        try Data(source.utf8).write(to: URL(filePath: sourceFile))
        let compiler = try await ChildProcess(
            URL(filePath: "/usr/bin/cc"), ["-shared", "-fPIC", "-o", library, sourceFile, "-ldl"],
            environment: ["PATH": "/usr/bin:/bin"], logFile: "\(folder)/\(name).log")
        let status = await compiler.end()
        guard status == 0 else { throw NotBuilt(description: "cc ended with \(status): \(compiler.log)") }
        return library
    }
}

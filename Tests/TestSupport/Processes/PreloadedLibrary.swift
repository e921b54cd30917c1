import Foundation
import FoundationEssentials

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

/// The host names that a process can resolve, set by a test through the library in `Tests/HostsFile`.
package struct HostNames: Sendable {
    private let path: String

    /// - Parameter path: The path of a new file.
    package init(path: String) {
        self.path = path
    }

    /// Sets the names' IPv4 addresses; `nil` for a lookup that takes a minute and then fails.
    package func set(_ addresses: [String: String?]) throws {
        let lines = addresses.map { "\($0) \($1 ?? "hangs")\n" }.sorted()
        try Data(lines.joined().utf8).write(to: URL(filePath: path), options: .atomic)
    }

    /// The environment of a process that uses these names.
    package var environment: [String: String] {
        let library = ServiceProcess.executables.appending(path: "libHostsFile.so").path(percentEncoded: false)
        return ["LD_PRELOAD": library, "HOSTS_FILE": path]
    }
}

/// A wall clock of a process that a test can set, by Debian's package `libfaketime`. The process's monotonic
/// clock does not change.
package struct FakeClock: Sendable {
    /// The environment of the process.
    package let settings: [String: String]
    /// Creates the clock's file.
    private let file: String

    package struct NotInstalled: Error, CustomStringConvertible {
        package let description = "libfaketime is not installed: deploy/dependencies test"
    }

    /// - Parameters:
    ///   - folder: The folder for the clock's file.
    ///   - seconds: How far the clock is ahead at first. Negative means behind.
    package init(in folder: String, ahead seconds: Int = 0) throws {
        guard let library = Self.library else { throw NotInstalled() }
        file = folder + "/clock"
        settings = [
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
        try set(ahead: seconds)
    }

    /// - Parameter seconds: How far the clock is ahead from now on. Negative means behind.
    package func set(ahead seconds: Int) throws {
        let offset = "\(seconds < 0 ? "" : "+")\(seconds)s\n"
        try Data(offset.utf8).write(to: URL(filePath: file), options: .atomic)
    }

    /// Whether the library is installed.
    package static var isPossible: Bool { library != nil }

    private static let library: String? = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        let paths = folders.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
        return paths.first { FileManager.default.fileExists(atPath: $0) }
    }()
}

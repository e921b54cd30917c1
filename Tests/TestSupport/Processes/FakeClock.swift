import FoundationEssentials

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

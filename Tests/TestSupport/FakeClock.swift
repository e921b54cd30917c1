import Foundation

/// A process' system clock, which a test sets: by Debian's libfaketime. The process' other clock goes on as it is.
package struct FakeClock: Sendable {
    /// Given to the process.
    package let settings: [String: String]
    private let file: String

    package struct NotInstalled: Error, CustomStringConvertible {
        package let description = "libfaketime is not installed: deploy/dependencies test"
    }

    /// - Parameter folder: For the file that tells the process how far its clock is ahead.
    package init(in folder: String) throws {
        let libraries = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib")
            .map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
        guard let library = libraries.first(where: { FileManager.default.fileExists(atPath: $0) }) else { throw NotInstalled() }
        file = folder + "/clock"
        settings = [
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
        try set(ahead: "+0")
    }

    /// - Parameter offset: Such as `+1h`.
    package func set(ahead offset: String) throws {
        try Data("\(offset)\n".utf8).write(to: URL(filePath: file), options: .atomic)
    }
}

import FoundationEssentials

/// A process whose wall clock differs from this one's, as another machine's may: Debian's package `libfaketime` does it.
package enum SkewedClock {
    private static let library: String? = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        let paths = folders.map { "/usr/lib/\($0)/faketime/libfaketimeMT.so.1" }
        return paths.first { FileManager.default.fileExists(atPath: $0) }
    }()

    /// Whether the library is installed.
    package static var isPossible: Bool { library != nil }

    /// The environment of a process whose clock is so many seconds ahead, or behind where they are negative.
    package static func environment(seconds: Int) -> [String: String] {
        [
            "LD_PRELOAD": library ?? "", "FAKETIME": "\(seconds < 0 ? "" : "+")\(seconds)s",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }
}

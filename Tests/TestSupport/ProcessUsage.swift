import FoundationEssentials

/// What a process holds at a moment, as Linux counts it.
package struct ProcessUsage: Sendable, CustomStringConvertible {
    package let descriptors: Int
    package let threads: Int
    /// Memory in use, in KiB.
    package let resident: Int

    package struct Unreadable: Error {
        let process: Int32
    }

    package init(of process: Int32) throws {
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let threads = Self.number("Threads:", in: status), let resident = Self.number("VmRSS:", in: status) else {
            throw Unreadable(process: process)
        }
        self.threads = threads
        self.resident = resident
    }

    package var description: String { "\(descriptors) descriptors, \(threads) threads, \(resident) KiB" }

    private static func number(_ name: String, in status: String) -> Int? {
        status.split(separator: "\n").first { $0.hasPrefix(name) }?.split(whereSeparator: \.isWhitespace).dropFirst().first
            .flatMap { Int($0) }
    }
}

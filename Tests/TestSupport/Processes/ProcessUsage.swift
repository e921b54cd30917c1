import FoundationEssentials
import Glibc

/// A process's resources at one point in time, from `/proc`.
package struct ProcessUsage: Sendable, CustomStringConvertible {
    package let descriptors: Int
    package let threads: Int
    /// Memory in use, in KiB.
    package let resident: Int
    /// The CPU time of all of its threads so far, in seconds.
    package let processorTime: Double

    package struct Unreadable: Error {
        let process: Int32
    }

    package init(descriptors: Int, threads: Int, resident: Int, processorTime: Double = 0) {
        self.descriptors = descriptors
        self.threads = threads
        self.resident = resident
        self.processorTime = processorTime
    }

    package init(of process: Int32) throws {
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let threads = Self.number("Threads:", in: status), let resident = Self.number("VmRSS:", in: status) else {
            throw Unreadable(process: process)
        }
        self.threads = threads
        self.resident = resident
        processorTime = try Self.processorTime(of: process)
    }

    /// proc(5): `utime` and `stime`, the 12th and 13th fields after the name in parentheses, in clock ticks.
    private static func processorTime(of process: Int32) throws -> Double {
        let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let fields = (stat.split(separator: ")").last ?? "").split(separator: " ").compactMap { Double($0) }
        guard fields.count > 11 else { throw Unreadable(process: process) }
        return (fields[10] + fields[11]) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    package var description: String { "\(descriptors) descriptors, \(threads) threads, \(resident) KiB" }

    private static func number(_ name: String, in status: String) -> Int? {
        status.split(separator: "\n").first { $0.hasPrefix(name) }?.split(whereSeparator: \.isWhitespace).dropFirst().first
            .flatMap { Int($0) }
    }
}

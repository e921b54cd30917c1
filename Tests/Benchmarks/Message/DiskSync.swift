import FoundationEssentials
import Glibc
import SystemPackage

/// The disk alone: the time until a small append to a file is durable.
enum DiskSync {
    /// A page of SQLite.
    private static let appended = [UInt8](repeating: 1, count: 4_096)

    /// Appends to a new file and syncs it, again and again.
    ///
    /// - Returns: The time of each sync, in milliseconds.
    static func measure(in folder: String, seconds: Double) throws -> [Double] {
        let file = try FileDescriptor.open(
            FilePath(folder + "/sync"), .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
        return try file.closeAfter {
            var times: [Double] = []
            let deadline = ContinuousClock.now + .seconds(seconds)
            repeat {
                try file.writeAll(appended)
                let start = ContinuousClock.now
                guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
                times.append((ContinuousClock.now - start) / .milliseconds(1))
            } while ContinuousClock.now < deadline
            return times
        }
    }
}

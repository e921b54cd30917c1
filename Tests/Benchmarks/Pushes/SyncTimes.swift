import Glibc
import SystemPackage

/// How long the disk takes to make a few pages of a file durable. Each commit waits for that.
enum SyncTimes {
    private static let pages = 4
    private static let pageSize = 4_096
    /// The file is overwritten from its beginning after so many writes, as a write-ahead log is.
    private static let period = 256

    /// - Parameter folder: Where the file is, which is removed afterwards.
    /// - Returns: In milliseconds.
    static func measure(_ count: Int, in folder: String) throws -> [Double] {
        let path = FilePath(folder + "/synced")
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: [.ownerReadWrite])
        defer { unlink(path.string) }
        return try file.closeAfter {
            let block = [UInt8](repeating: 0x5a, count: pages * pageSize)
            for number in 0..<period { try file.writeAll(toAbsoluteOffset: offset(of: number), block) }
            try sync(file)
            return try (0..<count).map { number in
                let begin = ContinuousClock.now
                try file.writeAll(toAbsoluteOffset: offset(of: number), block)
                try sync(file)
                return (ContinuousClock.now - begin) / .milliseconds(1)
            }
        }
    }

    private static func offset(of number: Int) -> Int64 {
        Int64(number % period * pages * pageSize)
    }

    private static func sync(_ file: FileDescriptor) throws {
        guard fdatasync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}

import FoundationEssentials
import Glibc

/// A disk of a few megabytes, in memory, which a test can fill.
package struct SmallDisk: Sendable {
    package let folder: String

    /// Whether the tests may mount a disk.
    package static let isPossible: Bool = {
        let folder = "/tmp/msi-disk-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        guard mkdir(folder, 0o700) == 0 else { return false }
        defer { rmdir(folder) }
        guard mountDisk(at: folder, megabytes: 1) else { return false }
        return umount2(folder, Int32(MNT_DETACH)) == 0
    }()

    /// Runs a test with an empty disk, which is unmounted afterwards.
    package static func with<Result>(
        megabytes: Int, isolation: isolated (any Actor)? = #isolation, _ body: (SmallDisk) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            guard mountDisk(at: folder, megabytes: megabytes) else {
                throw TooLate("no disk: \(String(cString: strerror(errno)))")
            }
            defer { umount2(folder, Int32(MNT_DETACH)) }
            return try await body(SmallDisk(folder: folder))
        }
    }

    /// Fills the disk except for this many bytes.
    package func fill(leaving free: UInt64) throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw TooLate("no ballast: \(String(cString: strerror(errno)))") }
        defer { close(file) }
        let bytes = [UInt8](repeating: 0, count: 1 << 16)
        var space = statvfs()
        while statvfs(folder, &space) == 0, UInt64(space.f_bavail) * UInt64(space.f_frsize) > free {
            guard write(file, bytes, bytes.count) == bytes.count else {
                throw TooLate("the disk cannot be filled: \(String(cString: strerror(errno)))")
            }
        }
    }

    /// Fills the disk completely.
    package func fill() throws {
        let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw TooLate("no ballast: \(String(cString: strerror(errno)))") }
        defer { close(file) }
        // Page by page at the end, so that not even a small file fits.
        for size in [1 << 16, 1 << 12] {
            let bytes = [UInt8](repeating: 0, count: size)
            while write(file, bytes, size) == size {}
        }
        guard errno == ENOSPC else { throw TooLate("the disk cannot be filled: \(String(cString: strerror(errno)))") }
    }

    /// Frees the space.
    package func free() throws {
        try FileManager.default.removeItem(atPath: ballast)
    }

    private var ballast: String { folder + "/ballast" }

    private static func mountDisk(at folder: String, megabytes: Int) -> Bool {
        mount("tmpfs", folder, "tmpfs", 0, "size=\(megabytes)m,mode=700") == 0
    }
}

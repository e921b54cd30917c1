import Glibc
import TestSupport

/// Makes files read-only for all processes, including those that have them open and the superuser's. A running service sees the
/// same after a disk failure or an operator's mistake.
enum WriteProtection {
    private static let getFlags = UInt(0x8008_6601)
    private static let setFlags = UInt(0x4008_6602)
    private static let immutable = 0x10

    /// Whether the tests may protect files, and the file system supports it.
    static let isPossible: Bool = {
        let file = "/tmp/msi-protected-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        defer {
            close(descriptor)
            unlink(file)
        }
        guard set(true, of: file) else { return false }
        defer { _ = set(false, of: file) }
        return write(descriptor, "x", 1) == -1
    }()

    /// Runs a body while files are read-only.
    static func of<Result>(
        _ files: [String], isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        defer { for file in files { _ = set(false, of: file) } }
        for file in files where !set(true, of: file) {
            throw TooLate("\(file) cannot be protected: \(String(cString: strerror(errno)))")
        }
        return try await body()
    }

    private static func set(_ isProtected: Bool, of file: String) -> Bool {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var flags = 0
        guard ioctl(descriptor, getFlags, &flags) == 0 else { return false }
        flags = isProtected ? flags | immutable : flags & ~immutable
        return ioctl(descriptor, setFlags, &flags) == 0
    }
}

import Crypto
import Glibc

/// The size of a file, and the SHA-256 of its bytes.
struct FileContents: Hashable, Sendable {
    let bytes: Int64
    let sha256: String

    private static let chunk = 1 << 20

    /// Reads a file from the disk.
    ///
    /// - Throws: ``BackupFailure`` with the path and the system's reason.
    init(of path: String, progress: (Int64) -> Void = { _ in }) throws {
        self = try Self.read(path, progress) { _ in }
    }

    /// Copies a file to a new one that only its owner may read, and syncs that.
    ///
    /// - Throws: ``BackupFailure`` with the path and the system's reason.
    static func copy(_ path: String, to other: String, progress: (Int64) -> Void = { _ in }) throws -> FileContents {
        let descriptor = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("\(other) cannot be made") }
        defer { close(descriptor) }
        let contents = try read(path, progress) { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = write(descriptor, start, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw failure("\(other) cannot be written") }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
        guard fsync(descriptor) == 0 else { throw failure("\(other) cannot be synced") }
        return contents
    }

    init(bytes: Int64, sha256: String) {
        self.bytes = bytes
        self.sha256 = sha256
    }

    private static func read(
        _ path: String, _ progress: (Int64) -> Void, _ use: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> FileContents {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("\(path) cannot be read") }
        defer { close(descriptor) }
        var hash = SHA256()
        var size: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 1)
        defer { buffer.deallocate() }
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, chunk)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("\(path) cannot be read") }
            guard count > 0 else { break }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            hash.update(bufferPointer: bytes)
            try use(bytes)
            size += Int64(count)
            progress(size)
        }
        let digest = hash.finalize().map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
        return FileContents(bytes: size, sha256: digest)
    }

    private static func failure(_ problem: String) -> BackupFailure {
        BackupFailure("\(problem): \(String(cString: strerror(errno)))")
    }
}

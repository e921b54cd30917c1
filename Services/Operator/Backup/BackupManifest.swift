import Crypto
import FoundationEssentials
import Glibc
import Base
import Schemas

/// The file `manifest.json` of a backup: what the backup contains.
struct BackupManifest: Codable, Hashable, Sendable {
    static let name = "manifest.json"
    /// The form of a backup.
    static let formats = FormatVersions(written: 1, readable: 1...1)

    /// The kind of database that the data was in.
    enum Database: String, ClosedEnum {
        case sqlite, mongodb
    }

    struct File: Codable, Hashable, Sendable {
        let name: String
        let bytes: Int64
        let sha256: String
        /// The number of rows in each table of a database.
        let rows: [String: Int]?
    }

    let format: Int
    /// The version of the product that wrote it.
    let product: String
    /// When it was begun. It contains everything that was accepted before. A backup of MongoDB may mark a broadcast that became due
    /// later as pushed, without its push.
    let begun: UnixMilliseconds
    let database: Database
    let files: [File]

    var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

    /// How many rows a table has; 0 if it is not there.
    func rows(of table: String, in file: String) -> Int {
        files.first { $0.name == file }?.rows?[table] ?? 0
    }

    /// Reads the manifest of a backup.
    ///
    /// - Throws: ``BackupFailure`` if there is none, or it is one that this version cannot restore.
    static func read(in folder: String) throws -> BackupManifest {
        let path = folder + "/" + name
        guard let data = FileManager.default.contents(atPath: path) else {
            throw BackupFailure("\(folder) is no backup: \(path) cannot be read")
        }
        let manifest: BackupManifest
        do {
            let head = try JSONCoder.decode(Head.self, from: data)
            let isNewer = ProductRelease(head.product).isNewer(than: ProductRelease(productVersion))
            guard formats.readable.contains(head.format), !isNewer else {
                throw BackupFailure(
                    "\(folder) was written by version \(head.product), and this is version \(productVersion), which may not know "
                        + "everything in it; restore it with version \(head.product) or a newer one")
            }
            manifest = try JSONCoder.decode(BackupManifest.self, from: data)
        } catch let failure as BackupFailure {
            throw failure
        } catch {
            throw BackupFailure("\(path) is damaged: \(error)")
        }
        guard manifest.files.allSatisfy({ $0.name.wholeMatch(of: /[A-Za-z0-9_-][A-Za-z0-9._-]*/) != nil }) else {
            throw BackupFailure("\(path) is damaged: it names a file outside the backup")
        }
        return manifest
    }

    /// Whether a folder is a backup, of any version.
    static func isInFolder(_ folder: String) -> Bool {
        guard let data = FileManager.default.contents(atPath: folder + "/" + name) else { return false }
        return (try? JSONCoder.decode(Head.self, from: data)) != nil
    }

    /// What every format has.
    private struct Head: Decodable {
        let format: Int
        let product: String
    }
}

/// A version of the product, compared by its numbers.
private struct ProductRelease {
    private let numbers: [Int]

    init(_ text: String) {
        numbers = text.prefix { $0 != "-" && $0 != "+" }.split(separator: ".").map { Int($0) ?? 0 }
    }

    func isNewer(than other: ProductRelease) -> Bool {
        other.numbers.lexicographicallyPrecedes(numbers)
    }
}

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

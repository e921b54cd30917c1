import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#endif

/// The file with the list of peers, which is read again when it has changed.
struct PeerFile: Sendable {
    let path: String
    /// What the last look has seen.
    private var seen: Signature?
    /// What the last reading has read.
    private var read: Signature?

    /// Far more than a list of a thousand machines.
    private static let maxBytes = 1 << 20

    private struct Signature: Hashable, Sendable {
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let isRegular: Bool
        let (seconds, nanoseconds): (Int, Int)

        /// - Returns: `nil` if there is no such file.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode, size) = (status.st_dev, status.st_ino, status.st_size)
            isRegular = status.st_mode & S_IFMT == S_IFREG
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    init(path: String) {
        self.path = path
    }

    /// Reads the list.
    mutating func list() throws(PeerList.Problem) -> PeerList {
        read = Signature(of: path)
        seen = read
        // A pipe or a device could hold the bus thread for ever.
        guard let status = read, status.isRegular, status.size <= Self.maxBytes else {
            let reason = read == nil ? Self.reason(path) : "expected a file of at most \(Self.maxBytes) bytes"
            throw PeerList.Problem(description: "\(path) cannot be read: \(reason)")
        }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw PeerList.Problem(description: "\(path) cannot be read: \(Self.reason(path))")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw PeerList.Problem(description: "\(path) is not UTF-8 text")
        }
        do throws(PeerList.Problem) {
            return try PeerList(parsing: text)
        } catch {
            throw PeerList.Problem(description: "\(path): \(error)")
        }
    }

    /// Whether the file has changed since it was read, and has not changed since the last call: an editor may still be writing it.
    mutating func hasChanged() -> Bool {
        let now = Signature(of: path)
        defer { seen = now }
        return now != read && now == seen
    }

    private static func reason(_ path: String) -> String {
        access(path, R_OK) == 0 ? "an error of the disk" : String(cString: strerror(errno))
    }
}

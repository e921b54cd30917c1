import Glibc

/// Creates files and folders that survive a power cut: a sync of the file stores its bytes, a sync of its folder stores its name.
package enum DurableFiles {
    /// Creates a folder that only its owner may use, and its missing parents.
    package static func makeFolder(_ path: String) throws(DurableFileFailure) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw DurableFileFailure(description: "\(path) is not a folder")
            }
        } else {
            var isMade = mkdir(path, 0o700) == 0
            if !isMade, errno == ENOENT {
                try makeFolder(parent(of: path))
                isMade = mkdir(path, 0o700) == 0
            }
            guard isMade || errno == EEXIST else { throw DurableFileFailure("\(path) cannot be made") }
        }
        // Even if the folder exists: its creator may have been killed before this point.
        try syncFolder(parent(of: path))
    }

    /// Atomically creates a file that only its owner may read.
    ///
    /// - Returns: `false` if the file exists. Then it is unchanged.
    package static func create(_ path: String, _ text: String) throws(DurableFileFailure) -> Bool {
        let draft = try writeDraft(of: path, text)
        defer { unlink(draft) }
        guard link(draft, path) == 0 else {
            if errno == EEXIST { return false }
            throw DurableFileFailure("\(path) cannot be made")
        }
        try syncFolder(parent(of: path))
        return true
    }

    /// Atomically replaces a file.
    ///
    /// - Parameter isPublic: Whether everyone may read it; otherwise only its owner.
    /// - Returns: The stamp of the new file, taken before another one can replace it; `nil` if it cannot be read.
    @discardableResult
    package static func replace(
        _ path: String, _ text: String, isPublic: Bool = false
    ) throws(DurableFileFailure) -> FileStamp? {
        let draft = try writeDraft(of: path, text, isPublic: isPublic)
        let stamp = FileStamp(of: draft)
        do throws(DurableFileFailure) {
            try rename(draft, to: path)
        } catch {
            unlink(draft)
            throw error
        }
        return stamp
    }

    /// Removes the drafts of a public file whose writers were killed. A draft that another process may still be writing stays.
    package static func removeOldDrafts(of path: String) {
        let folder = parent(of: path)
        guard let name = path.split(separator: "/").last.map(String.init) else { return }
        for other in names(in: folder) where other.hasPrefix(name + ".") && other.hasSuffix(draftSuffix) {
            var status = stat()
            let draft = folder + "/" + other
            guard lstat(draft, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mtim.tv_sec < time(nil) - maxDraftAge
            else { continue }
            unlink(draft)
        }
    }

    /// The suffix of a public file's draft. It distinguishes drafts from other programs' files in the folder.
    private static let draftSuffix = ".draft"
    /// In seconds.
    private static let maxDraftAge = 600

    /// Checks that a file may be written to a path: its folder exists, and the path itself is not a folder.
    package static func checkPlace(of path: String) throws(DurableFileFailure) {
        let folder = parent(of: path)
        guard isFolder(folder) else { throw DurableFileFailure(description: "there is no folder \(folder)") }
        guard !isFolder(path) else { throw DurableFileFailure(description: "\(path) is a folder, expected a file") }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Atomically replaces a file by another one of the same folder.
    package static func rename(_ other: String, to path: String) throws(DurableFileFailure) {
        guard Glibc.rename(other, path) == 0 else { throw DurableFileFailure("\(path) cannot be replaced") }
        try syncFolder(parent(of: path))
    }

    /// Syncs the bytes of a file that another writer has written.
    package static func syncFile(_ path: String) throws(DurableFileFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DurableFileFailure("\(path) cannot be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw DurableFileFailure("\(path) cannot be synced") }
    }

    /// Moves a file or folder to a name in another folder of the same disk.
    package static func move(_ path: String, to other: String) throws(DurableFileFailure) {
        guard Glibc.rename(path, other) == 0 else { throw DurableFileFailure("\(path) cannot be moved to \(other)") }
        try syncFolder(parent(of: other))
        try syncFolder(parent(of: path))
    }

    /// Syncs a folder, and so the names in it.
    package static func syncFolder(_ path: String) throws(DurableFileFailure) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            // This process cannot have created anything in a folder that it may not read.
            if errno == EACCES { return }
            throw DurableFileFailure("\(path) cannot be opened")
        }
        defer { close(descriptor) }
        // Some file systems do not sync folders, and a read-only one has nothing to sync.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
            throw DurableFileFailure("\(path) cannot be synced")
        }
    }

    /// - Returns: The path of a synced temporary file in the same folder.
    private static func writeDraft(
        of path: String, _ text: String, isPublic: Bool = false
    ) throws(DurableFileFailure) -> String {
        // The random name is unique even if process ids repeat, as in containers.
        let draft = path + "." + String(UInt64.random(in: 0...UInt64.max), radix: 36) + (isPublic ? draftSuffix : "")
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let hint = errno == ENOENT ? ", since there is no folder \(parent(of: path))" : ""
            throw DurableFileFailure("\(path) cannot be made\(hint)")
        }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw remove(draft, "\(path) cannot be written") }
            rest = rest.dropFirst(max(0, count))
        }
        // Not at its creation, where the process's umask applies.
        guard !isPublic || fchmod(descriptor, 0o644) == 0 else { throw remove(draft, "\(path) cannot be made readable") }
        guard fsync(descriptor) == 0 else { throw remove(draft, "\(path) cannot be synced") }
        return draft
    }

    private static func remove(_ draft: String, _ problem: String) -> DurableFileFailure {
        let failure = DurableFileFailure(problem)
        unlink(draft)
        return failure
    }

    /// The names in a folder, without hidden ones; none if it cannot be read.
    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private static func parent(of path: String) -> String {
        let parts = path.split(separator: "/")
        if path.hasPrefix("/") { return "/" + parts.dropLast().joined(separator: "/") }
        return parts.count > 1 ? parts.dropLast().joined(separator: "/") : "."
    }
}

/// Why a file or folder could not be created or synced.
package struct DurableFileFailure: Error, CustomStringConvertible {
    package let description: String

    init(description: String) {
        self.description = description
    }

    /// - Parameter problem: The operation that has just failed. The text of `errno` is added.
    init(_ problem: String) {
        let reason = errno
        description = "\(problem): \(String(cString: strerror(reason)))"
    }
}

/// The identity of a file's content: it differs after the file was replaced or written. The inode number is not sufficient, since a
/// later file can have it again.
package struct FileStamp: Hashable, Sendable {
    private let number: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Reads the file's metadata, which the kernel has in memory for an open file.
    ///
    /// - Returns: `nil` if there is no such file.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}

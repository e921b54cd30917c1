import FoundationEssentials
import Glibc

/// The place of a new backup.
struct BackupPlace {
    /// An absolute path, without a slash at its end.
    let target: String

    /// Refuses a place at which the backup would be lost with other data, or would not be where the operator expects it.
    ///
    /// - Throws: ``BackupFailure``.
    func check(stateDirectory: String) throws(BackupFailure) {
        let parent = try realParent()
        if let state = Self.realPath(stateDirectory), Self.folders(from: parent).contains(state) {
            throw BackupFailure(
                "\(target) is inside the state directory \(stateDirectory), with which it would be lost; choose a folder on another disk"
            )
        }
        if let backup = Self.folders(from: parent).first(where: BackupManifest.isInFolder) {
            throw BackupFailure("\(target) is inside the backup \(backup); choose a folder beside it")
        }
    }

    /// The folder that is to contain the backup, without links. It is not made: while a disk is not mounted, the backup would go to the
    /// disk below.
    private func realParent() throws(BackupFailure) -> String {
        let end = target.lastIndex(of: "/") ?? target.startIndex
        let parent = end == target.startIndex ? "/" : String(target[..<end])
        guard let real = Self.realPath(parent) else {
            guard errno == ENOENT else { throw BackupFailure("\(parent) cannot be used: \(String(cString: strerror(errno)))") }
            throw BackupFailure("\(parent) does not exist; is its disk mounted? mkdir -p \(parent.shellQuoted) makes it")
        }
        var status = stat()
        guard stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw BackupFailure("\(parent) is no folder") }
        return real
    }

    /// - Returns: `nil` with the reason in `errno`.
    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// A folder and all around it, from the inner one to the root.
    private static func folders(from path: String) -> [String] {
        let parts = path.split(separator: "/")
        return (0...parts.count).reversed().map { "/" + parts[..<$0].joined(separator: "/") }
    }
}

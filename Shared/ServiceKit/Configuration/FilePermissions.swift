import Glibc

/// Whether other users can read a file that holds a secret, or change what this process trusts.
package enum FilePermissions {
    /// Who else than this user and root can change a file, or what is in a folder: the rest of a sentence that begins with its path; `nil`
    /// if no one can, or it does not exist.
    ///
    /// - Parameter mayBeSticky: Whether others may write to a folder with the sticky bit, such as /tmp: they cannot replace what is not
    ///   theirs.
    package static func foreignWriter(of path: String, mayBeSticky: Bool = false) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        if status.st_uid != 0, status.st_uid != geteuid() {
            let name = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "\(status.st_uid)"
            return "belongs to the user \(name)"
        }
        guard status.st_mode & 0o022 != 0, !(mayBeSticky && status.st_mode & S_ISVTX != 0) else { return nil }
        return "can be written to by other users (mode \(String(status.st_mode & 0o7777, radix: 8)))"
    }

    /// A warning for the operator if a file's mode gives its group or everyone access; `nil` if it does not, or if the
    /// file does not exist.
    package static func warning(about path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
        let mode = String(status.st_mode & 0o777, radix: 8)
        return
            "\(path) contains secrets, and its mode \(mode) lets other users read them; make it readable only by its owner: chmod 600"
    }
}

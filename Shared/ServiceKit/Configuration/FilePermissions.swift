import Glibc

/// Whether other users can read a file that holds a secret.
package enum FilePermissions {
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

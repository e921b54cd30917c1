import Glibc
import SystemPackage

/// A small file that a setting names.
package enum OperatorFile {
    /// The maximum size. No such file comes near it.
    private static let maxBytes = 1 << 20

    /// Reads the whole file.
    ///
    /// - Throws: ``ConfigurationError`` with the setting, the path and the system's reason, without the file's content.
    package static func text(at path: String, of setting: SettingDeclaration) throws -> String {
        let bytes: [UInt8]
        do {
            bytes = try read(path)
        } catch {
            throw ConfigurationError("\(setting.name): \(path) cannot be read: \(error)")
        }
        guard bytes.count <= maxBytes else {
            throw ConfigurationError("\(setting.name): \(path) has more than \(maxBytes) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError("\(setting.name): \(path) is not UTF-8 text")
        }
        return text
    }

    /// - Returns: The file's bytes; of a file that is too large, the first ones.
    private static func read(_ path: String) throws(Errno) -> [UInt8] {
        do {
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            return try file.closeAfter {
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 16_384)
                while bytes.count <= maxBytes {
                    let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
                    if count == 0 { break }
                    bytes += buffer.prefix(count)
                }
                return bytes
            }
        } catch let error as Errno {
            throw error
        } catch {
            throw Errno.ioError
        }
    }
}

/// Whether other users can read a file that holds a secret, or change what this process trusts.
package enum FilePermissions {
    /// Who besides this user and root can change a file or a folder's content, as the rest of a sentence that begins with the path. `nil`
    /// if no one can, or if it does not exist.
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

import SystemPackage

/// A small file that a setting names.
package enum OperatorFile {
    /// Far more than any such file needs.
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

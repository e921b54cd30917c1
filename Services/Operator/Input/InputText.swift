import FoundationEssentials
import Glibc

/// A text that a command reads from a file or from standard input.
enum InputText {
    /// Without a byte order mark at its start, which editors of Windows write.
    ///
    /// - Parameter file: A path; `-` for standard input.
    /// - Throws: ``InputFailure``.
    static func read(_ file: String, maxBytes: Int) throws -> String {
        let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw InputFailure(description: "it cannot be read: \(String(cString: strerror(errno)))") }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes = [UInt8](), buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputFailure(description: "it cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= maxBytes else { throw InputFailure(description: "it has more than \(maxBytes) bytes") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InputFailure(description: "it is not UTF-8; spreadsheets can save CSV as UTF-8")
        }
        return String(text.trimmingPrefix("\u{FEFF}"))
    }
}

/// Why a text could not be read or written.
struct InputFailure: Error, CustomStringConvertible {
    let description: String
}

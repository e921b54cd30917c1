import FoundationEssentials
import ServiceKit

/// The sender's credential for the legacy API. It is a secret: its descriptions do not contain it, and it must not be logged.
struct ServerKey: Hashable, Sendable {
    let value: String
}

extension ServerKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "a server key" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension ServerKey {
    /// Reads a file that holds only the key.
    ///
    /// - Throws: ``ConfigurationError`` that names the file and quotes none of its content.
    init(file path: String) throws {
        let contents: Data
        do {
            contents = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw ConfigurationError("the server key in \(path) cannot be read: \((error as? CocoaError)?.reason ?? "\(error)")")
        }
        let text = String(decoding: contents, as: UTF8.self)
        let key = text.prefix { !$0.isNewline }
        // The key becomes part of a header line.
        guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), text.dropFirst(key.count).allSatisfy(\.isNewline)
        else { throw ConfigurationError("the server key in \(path) cannot be used: expected one line without spaces") }
        value = String(key)
    }
}

import FoundationEssentials
import JSON
import NIOCore
import Pages

/// The page's files, in memory.
struct PageFiles: Sendable {
    private let files: [String: ByteBuffer]
    /// Part of each file's path. It is new with each start, so that browsers load changed files.
    private let version = String(Int(Date().timeIntervalSince1970 * 1_000), radix: 36)

    /// - Throws: An error of the file system, if they are not installed.
    init() throws {
        let contents = try [PageFolder.shared, PageFolder(of: "Phone")].reduce(into: [String: Data]()) { files, folder in
            files.merge(try folder.read()) { $1 }
        }
        files = contents.mapValues { ByteBuffer(bytes: $0) }
    }

    /// A file by its path, without the version.
    func file(_ path: String) -> (type: FileType, bytes: ByteBuffer)? {
        guard let type = FileType(of: path), type != .html, let bytes = files[path] else { return nil }
        return (type, bytes)
    }

    /// The page in the phone's language.
    func page(_ language: PhoneControl.Language) -> String {
        String(buffer: files["index.html"] ?? ByteBuffer())
            .replacing("@version@", with: version)
            .replacing("@language@", with: language.rawValue)
            .replacing("@direction@", with: language == .ar ? "rtl" : "ltr")
            .replacing("@product@", with: text("product", language))
            .replacing("@noscript@", with: text("noscript", language))
    }

    /// A text of the page's catalogue; the key if there is none.
    func text(_ key: String, _ language: PhoneControl.Language) -> String {
        let catalogue = files["text/\(language.rawValue)/common.json"].flatMap { try? JSONValue(parsing: $0.readableBytesView) }
        return catalogue?[key]?.string ?? key
    }
}

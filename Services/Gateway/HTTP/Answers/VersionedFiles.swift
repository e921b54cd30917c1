import Crypto
import FoundationEssentials
import Hummingbird
import Pages

/// The files that pages load, from memory, in one consistent version.
///
/// Their paths contain the version, so that browsers can keep them for ever, and so do the relative paths by which they load each other.
struct VersionedFiles: Sendable {
    /// One file.
    struct File: Sendable {
        let body: TaggedBody
        let type: FileType

        init(_ contents: Data, _ type: FileType) {
            body = TaggedBody(type == .js ? ScriptComments.removed(from: contents) : contents)
            self.type = type
        }
    }

    /// A digest of all files.
    let version: String
    private let files: [String: File]

    /// - Parameter site: Files of unknown types are left out. HTML belongs to the version, but is not a file that pages load.
    init(_ site: Site) {
        let known = site.files.keys.sorted().compactMap { path in
            FileType(of: path).map { (path, $0, site.files[path] ?? Data()) }
        }
        var hash = SHA256()
        for (path, _, contents) in known {
            hash.update(data: Data("\(path)\0\(contents.count)\0".utf8))
            hash.update(data: contents)
        }
        version = hash.finalize().shortText
        files = Dictionary(
            uniqueKeysWithValues: known.filter { $0.1 != .html }.map { path, type, contents in (path, File(contents, type)) })
    }

    /// A file by its path; `nil` if there is none.
    subscript(path: String) -> File? { files[path] }

    var paths: [String] { files.keys.sorted() }

    /// The answer to a request for a file; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - version: With the current version the client may keep the file for ever. With any other one it gets the current file, and
    ///     asks again before each use.
    ///   - path: The rest of the request's path.
    func answer(_ version: some StringProtocol, _ path: String, for call: OpenCall<NoBody>) -> Answer<NoContent>? {
        self[path].map { file in
            Answer(
                body: file.body, file.type.contentType, for: call,
                cacheControl: version == self.version ? "public, max-age=31536000, immutable" : "no-cache")
        }
    }
}

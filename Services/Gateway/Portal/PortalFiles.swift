import Crypto
import FoundationEssentials
import Pages

/// The portal's files as the gateway serves them, from memory, in one consistent version.
///
/// A page is the file `index.html` of a folder. All other files are loaded by pages. Their paths contain the version, so that
/// browsers can keep them for ever, and so do the relative paths by which they load each other.
struct PortalFiles: Sendable {
    /// One file.
    struct File: Sendable {
        let body: TaggedBody
        let type: FileType

        fileprivate init(_ contents: Data, _ type: FileType) {
            body = TaggedBody(contents)
            self.type = type
        }
    }

    /// A digest of all files.
    let version: String
    /// The pages by their folders. The first page is in the folder "".
    private let pages: [String: File]
    /// All other files by their paths.
    private let assets: [String: File]

    /// The text in a page that stands for the version.
    static let versionPlaceholder = "@version@"

    /// - Parameter contents: The files by their paths in the portal's folder. Those of unknown types are left out.
    init(_ contents: [String: Data]) {
        let known = contents.keys.sorted().compactMap { path in FileType(of: path).map { (path, $0, contents[path] ?? Data()) } }
        var hash = SHA256()
        for (path, _, contents) in known {
            hash.update(data: Data("\(path)\0\(contents.count)\0".utf8))
            hash.update(data: contents)
        }
        let version = hash.finalize().shortText
        var (pages, assets) = ([String: File](), [String: File]())
        for (path, type, contents) in known {
            guard type == .html else {
                assets[path] = File(contents, type)
                continue
            }
            let page = String(decoding: contents, as: UTF8.self).replacing(Self.versionPlaceholder, with: version)
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            if path.split(separator: "/").last == "index.html" { pages[folder] = File(Data(page.utf8), type) }
        }
        (self.version, self.pages, self.assets) = (version, pages, assets)
    }

    /// The page of a folder, such as `send`; `nil` if there is none.
    func page(_ folder: String) -> File? { pages[folder] }

    /// A file that is no page; `nil` if there is none.
    func asset(_ path: String) -> File? { assets[path] }

    /// The folders of the pages, except that of the first page.
    var folders: [String] { pages.keys.filter { !$0.isEmpty }.sorted() }
}

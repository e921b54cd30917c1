import FoundationEssentials
import Base
import Pages

/// The portal's files as the gateway serves them, from memory, in one consistent version.
///
/// The file `pages.json` is the table of the pages. All other files are loaded by pages.
struct PortalFiles: Sendable {
    /// The files that are no pages.
    let assets: VersionedFiles
    /// The pages by their folders. The first page is in the folder "".
    private let pages: [String: TaggedBody]

    /// An entry of the table.
    private struct Entry: Decodable {
        let module: String
        let texts: [String]
        let styles: [String]
        let frame: String?
    }

    /// - Parameter site: The portal's files.
    /// - Throws: `SchemaViolation` if the table or `page.html` is missing, or the table is damaged.
    init(_ site: Site) throws {
        let assets = VersionedFiles(site)
        let table = try JSONCoder.decode([String: Entry].self, from: site.required("pages.json"))
        pages = try table.mapValues { entry in
            var page = Page(first: "lib/early.js", styles: entry.styles, module: entry.module)
            (page.texts, page.frame) = (entry.texts, entry.frame)
            return TaggedBody(Data(try site.html(of: page, root: "/portal/files/\(assets.version)").utf8))
        }
        self.assets = assets
    }

    /// A digest of all files.
    var version: String { assets.version }

    /// The page of a folder, such as `send`; `nil` if there is none.
    func page(_ folder: String) -> TaggedBody? { pages[folder] }

    /// The folders of the pages, except that of the first page.
    var folders: [String] { pages.keys.filter { !$0.isEmpty }.sorted() }
}

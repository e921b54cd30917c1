import App
import Base
import FoundationEssentials
import Logging
import Pages

/// The student's app and the professor's page as the gateway serves them, from memory, in one consistent version.
struct AppFiles: Sendable {
    /// The files that the page loads.
    let assets: VersionedFiles
    let serviceWorker: TaggedBody
    /// The same as a module, which also takes pushes.
    let pushWorker: TaggedBody
    private let pages: [AppLanguage: TaggedBody]
    private let professorPages: [AppLanguage: TaggedBody]
    private let manifests: [AppLanguage: TaggedBody]

    /// The path of the app's page. Everything below it is in the scope of the installed app.
    static let root = "/app/"
    static let manifestPath = root + "manifest.webmanifest"
    /// The path of the professor's page. It is beside the portal's pages, and is made of the app's modules.
    static let professorPath = "/portal/classes/"
    /// What is made for the professor's page has this in its path. Students' browsers do not keep it.
    private static let professor = "professor"
    /// The scripts of service workers, which are not the page's.
    private static let workers = "worker/"

    /// The shared files, the views, and those of the web app.
    static var besideExecutable: [PageFolder] {
        [.shared, AppViews.folder, PageFolder(of: "Gateway", named: "AppFiles")]
    }

    /// Reads all files into memory; `nil` if they cannot be read. Then the log says why.
    init?(reading folders: [PageFolder] = besideExecutable, logger: Logger) {
        do {
            try self.init(Site(reading: folders))
        } catch {
            logger.warning(
                "the students' app cannot be read, and the gateway does not serve it",
                metadata: ["folders": "\(folders.map(\.path).joined(separator: ", "))", "error": "\(error)"])
            return nil
        }
    }

    /// - Throws: `SchemaViolation` if a file that the app needs is missing.
    init(_ site: Site) throws {
        let assets = VersionedFiles(site)
        let files = "\(Self.root)files/\(assets.version)"
        self.assets = assets
        let worker = Self.release(assets) + (try site.required(Self.workers + "service-worker.js"))
        serviceWorker = TaggedBody(worker)
        let imports = String(decoding: try site.required(Self.workers + "push-worker.js"), as: UTF8.self)
        pushWorker = TaggedBody(Data(imports.replacing("@files@", with: files).utf8) + worker)
        let styles = [AppViews.style, "style/web.css", "style/study.css"]
        pages = try Self.pages(of: site, root: files) { language in
            var page = Page(first: "lib/early.js", styles: styles, module: "app.js")
            (page.texts, page.touchIcon) = ([AppViews.texts], "icons/180.png")
            page.manifest = "\(Self.manifestPath)?language=\(language.rawValue)"
            return page
        }
        professorPages = try Self.pages(of: site, root: files) { _ in
            let own = ["style/qr.css", "style/plot.css", "style/\(Self.professor).css"]
            let module = "\(Self.professor)/\(Self.professor).js"
            var page = Page(first: "lib/early.js", styles: ["style/shell.css"] + styles + own, module: module)
            (page.texts, page.frame) = ([AppViews.texts, "people", "study", Self.professor], "classes")
            return page
        }
        let colour = try Self.groundColour(of: site)
        manifests = Self.inEachLanguage { language in
            TaggedBody(AppManifest(site, language, files: files, colour: colour).json.data)
        }
    }

    func page(_ language: AppLanguage) -> TaggedBody? { pages[language] }

    func professorPage(_ language: AppLanguage) -> TaggedBody? { professorPages[language] }

    func manifest(_ language: AppLanguage) -> TaggedBody? { manifests[language] }

    private static func pages(of site: Site, root: String, _ make: (AppLanguage) -> Page) throws -> [AppLanguage: TaggedBody] {
        try inEachLanguage { language in
            var page = make(language)
            (page.language, page.isRightToLeft) = (language.rawValue, language.isRightToLeft)
            return TaggedBody(Data(try site.html(of: page, root: root).utf8))
        }
    }

    private static func inEachLanguage(_ make: (AppLanguage) throws -> TaggedBody) rethrows -> [AppLanguage: TaggedBody] {
        Dictionary(uniqueKeysWithValues: try AppLanguage.allCases.map { ($0, try make($0)) })
    }

    /// The beginning of the service worker: the version, and the files that it keeps. The pictures are for systems, which keep them.
    private static func release(_ assets: VersionedFiles) -> Data {
        let kept = assets.paths.filter { !$0.hasPrefix(workers) && !$0.contains(professor) && FileType(of: $0) != .png }
        let release: JSONValue = ["version": .string(assets.version), "files": .array(kept.map { .string($0) })]
        return Data("const release = \(release.text);\n".utf8)
    }

    /// The colour behind everything in the light, as the shared stylesheet names it: `--ground: light-dark(#f6f7f9, #0f1216);`
    private static func groundColour(of site: Site) throws(SchemaViolation) -> String {
        let (path, beginning) = ("style/tokens.css", "--ground: light-dark(")
        let lines = String(decoding: try site.required(path), as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.contains(beginning) }), let value = line.split(separator: "(").last else {
            throw SchemaViolation(field: path, problem: "no line has \(beginning)…")
        }
        return String(value.prefix { $0 != "," })
    }
}

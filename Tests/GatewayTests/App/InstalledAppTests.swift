import Foundation
import Logging
import NIOCore
import Pages
import TestSupport
import Testing

@testable import Gateway

/// The students' app as the build puts it beside the executables.
@Suite("Installed students' app")
struct InstalledAppTests {
    private static let sources = ["Shared/Pages/Files", "Shared/App/Files", "Services/Gateway/App/AppFiles"].map { folder in
        PageFolder(path: URL(filePath: #filePath).appending(path: "../../../../\(folder)").standardized.path)
    }

    @Test("The built folders have the files of the sources")
    func built() throws {
        let built = try AppFiles(Site(reading: AppFiles.besideExecutable))
        #expect(built.assets.version == (try AppFiles(Site(reading: Self.sources)).assets.version))
    }

    @Test("The service worker keeps every file that the page names, and so does each language's page")
    func references() throws {
        let files = try AppFiles(Site(reading: AppFiles.besideExecutable))
        let worker = String(buffer: files.serviceWorker.plain.bytes)
        for language in AppLanguage.allCases {
            let page = String(buffer: try #require(files.page(language)).plain.bytes)
            #expect(!page.contains("@") && page.contains("<html lang=\"\(language.rawValue)\""), "\(page)")
            let references = page.matches(of: /\/app\/files\/([^\/"]+)\/([^"?#]+)"/)
            #expect(references.count > 30, "\(page)")
            for reference in references {
                #expect(reference.1 == files.assets.version && files.assets[String(reference.2)] != nil, "\(reference.0)")
                guard !reference.2.hasSuffix(".png") else { continue }
                #expect(worker.contains("\"\(reference.2)\""), "\(reference.0)")
            }
            let manifest = String(buffer: try #require(files.manifest(language)).plain.bytes)
            let icons = manifest.matches(of: /\/app\/files\/[^\/"]+\/([^"]+)"/)
            #expect(icons.count == 4)
            for icon in icons { #expect(files.assets[String(icon.1)] != nil, "\(icon.0)") }
        }
    }

    @Test("The service worker imports a module that is there, and keeps all that this one imports")
    func background() throws {
        let files = try AppFiles(Site(reading: AppFiles.besideExecutable))
        let worker = String(buffer: files.pushWorker.plain.bytes)
        let imports = worker.matches(of: /import "\/app\/files\/([^\/"]+)\/([^"]+)";/)
        #expect(imports.count == 1 && !worker.contains("\"@files@/"), "\(worker)")
        for imported in imports {
            #expect(imported.1 == files.assets.version && files.assets[String(imported.2)] != nil, "\(imported.0)")
            // A service worker cannot load a module later.
            let loaded = try Site(reading: AppFiles.besideExecutable).imports(of: String(imported.2))
            #expect(loaded.contains("core/pushes.js") && loaded.allSatisfy { files.assets[$0] != nil }, "\(loaded)")
        }
    }

    @Test("A gateway without a file that the app needs serves everything else, and its log names the file")
    func incomplete() async throws {
        try await withTemporaryFolder { folder in
            let files = [
                "page.html": "<main>", "style/tokens.css": "--ground: light-dark(#fff, #000);", "worker/service-worker.js": "",
                "worker/push-worker.js": "",
            ]
            for missing in files.keys {
                let (path, log) = ("\(folder)/\(missing.count)", RecordedLog())
                for (name, text) in files where name != missing {
                    let file = URL(filePath: "\(path)/\(name)")
                    try FileManager.default.createDirectory(
                        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                    try Data(text.utf8).write(to: file)
                }
                #expect(AppFiles(reading: [PageFolder(path: path)], logger: log.logger) == nil)
                #expect(
                    log.lines.filter { $0.level == .warning && $0.text.contains("\(missing): missing") }.count == 1, "\(missing)")
            }
        }
    }
}

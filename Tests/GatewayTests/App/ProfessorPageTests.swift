import Foundation
import NIOCore
import Pages
import TestSupport
import Testing

@testable import Gateway

/// The professor's page over HTTP.
@Suite("Professor's page", .timeLimit(.minutes(10)))
struct ProfessorPageTests {
    private static let site = Site([
        "page.html": Data(
            "@language@ @direction@ of @files@: @module@ @texts@\n<link href=\"@manifest@\">\n<hub-shell page=\"@frame@\">".utf8),
        "style/tokens.css": Data(":root {\n  --ground: light-dark(#f6f7f9, #0f1216);\n}\n".utf8),
        "app.js": Data("".utf8), "worker/service-worker.js": Data("".utf8), "worker/push-worker.js": Data("".utf8),
        "professor/professor.js": Data("".utf8), "style/professor.css": Data("".utf8), "text/en/professor.json": Data("{}".utf8),
    ])
    private static let files = try? AppFiles(site)

    private typealias Get = @Sendable (_ target: String, _ headers: [String: String]) async throws -> HTTPAnswer

    /// The portal's routes are beside it, as in the product.
    private static func with(
        _ files: AppFiles? = files, _ body: @escaping @Sendable (_ get: Get) async throws -> Void
    ) async throws {
        let portal = PortalRoutes(files: nil)
        try await withRouteServer(portal.routes + ProfessorPageRoutes(files: files).routes) { port in
            try await body { target, headers in
                try #require(
                    try await HTTPConversation.send(HTTPConversation.request("GET", target, headers: headers), to: port))
            }
        }
    }

    @Test("The page comes in the browser's language, has the portal's frame and the app's files, and is asked for again")
    func page() async throws {
        let version = try #require(Self.files).assets.version
        try await Self.with { get in
            for (accepted, language, direction) in [("", "en", "ltr"), ("ar-EG,en;q=0.8", "ar", "rtl"), ("de", "en", "ltr")] {
                let headers = ["Accept-Language": accepted]
                let answer = try await get("/portal/classes/", headers)
                let text = """
                    \(language) \(direction) of /app/files/\(version): professor/professor.js app people study professor
                    <hub-shell page="classes">
                    """
                #expect(answer.status == 200 && answer.text == text, "\(accepted): \(answer)")
                #expect(answer["content-type"] == "text/html; charset=utf-8" && answer["cache-control"] == "no-cache")
                #expect(answer["vary"] == "Accept-Encoding, Accept-Language")
                #expect(answer["content-security-policy"]?.contains("img-src 'self' data: https:") == true)
                let tag = try #require(answer["etag"])
                #expect(try await get("/portal/classes/", headers.merging(["If-None-Match": tag]) { $1 }).status == 304)
            }
        }
    }

    @Test("A path without its slash leads to the page, and one below it is the portal's")
    func paths() async throws {
        try await Self.with { get in
            for (target, location) in [
                ("/portal/classes", "/portal/classes/"), ("/portal/classes?from=mail", "/portal/classes/?from=mail"),
            ] {
                let answer = try await get(target, [:])
                #expect(answer.status == 308 && answer["location"] == location, "\(answer) \(answer.headers)")
            }
            let other = try await get("/portal/classes/nothing", [:])
            #expect(other.status == 404 && other.text.contains("portal's pages"), "\(other)")
        }
    }

    @Test("Without the files the page says what is missing")
    func missingFiles() async throws {
        try await Self.with(nil) { get in
            let answer = try await get("/portal/classes/", [:])
            #expect(answer.status == 404 && answer.problem == "not-found" && answer.text.contains("…_App.resources"), "\(answer)")
        }
    }

    @Test("The service worker of students keeps nothing that only the page of professors loads")
    func serviceWorker() throws {
        let worker = String(buffer: try #require(Self.files).serviceWorker.plain.bytes)
        #expect(worker.contains("\"app.js\"") && !worker.contains("professor"), "\(worker)")
    }

    @Test("Every file that the built page names is there")
    func references() throws {
        let files = try AppFiles(Site(reading: AppFiles.besideExecutable))
        for language in AppLanguage.allCases {
            let page = String(buffer: try #require(files.professorPage(language)).plain.bytes)
            #expect(!page.contains("@") && page.contains("<html lang=\"\(language.rawValue)\""), "\(page)")
            let references = page.matches(of: /\/app\/files\/([^\/"]+)\/([^"?#]+)"/)
            #expect(references.count > 30, "\(page)")
            for reference in references {
                #expect(reference.1 == files.assets.version && files.assets[String(reference.2)] != nil, "\(reference.0)")
            }
        }
    }
}

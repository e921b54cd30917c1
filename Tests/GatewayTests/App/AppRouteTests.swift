import Foundation
import HTTPTypes
import Pages
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// The students' app over HTTP.
@Suite("Students' app", .timeLimit(.minutes(10)))
struct AppRouteTests {
    private static let texts = [
        "text/en/common.json": Data(#"{"product": "Hub", "manifest.description": "What your campus tells you."}"#.utf8),
        "text/ar/common.json": Data(#"{"product": "مركز", "manifest.description": "ما تقوله جامعتك."}"#.utf8),
    ]
    private static let site = Site(
        [
            "page.html": Data(
                "@language@ @direction@ of @files@\n<link href=\"@manifest@\">\n<link href=\"@files@/@touch@\">".utf8),
            "style/tokens.css": Data(":root {\n  --ground: light-dark(#f6f7f9, #0f1216);\n}\n".utf8),
            "app.js": Data("import './lib/other.js'".utf8), "icon.svg": Data("<svg/>".utf8), "icons/192.png": Data([0x89, 0x50]),
            "worker/service-worker.js": Data("// the worker\n".utf8), "worker/withdrawal.js": Data("// its end\n".utf8),
            "worker/push-worker.js": Data("import \"@files@/background.js\";\n".utf8),
            "README.md": Data("private".utf8),
        ].merging(texts) { $1 })
    private static let files = try? AppFiles(site)
    private static var version: String { files?.assets.version ?? "" }

    private typealias Get = @Sendable (_ method: String, _ target: String, _ headers: [String: String]) async throws -> HTTPAnswer

    private static func with(
        _ files: AppFiles? = files, _ body: @escaping @Sendable (_ get: Get) async throws -> Void
    ) async throws {
        try await withRouteServer(AppRoutes(files: files).routes) { port in
            try await body { method, target, headers in
                try #require(
                    try await HTTPConversation.send(HTTPConversation.request(method, target, headers: headers), to: port))
            }
        }
    }

    @Test("The page comes in the language that the browser prefers, with the path of the files, and is asked for again")
    func page() async throws {
        try await Self.with { get in
            for (accepted, language, direction) in [
                ("", "en", "ltr"), ("ar", "ar", "rtl"), ("ar-EG,en;q=0.8", "ar", "rtl"), ("en-GB,ar;q=0.9", "en", "ltr"),
                ("de,fr;q=0.9", "en", "ltr"), ("de, ar;q=0.1", "ar", "rtl"), ("AR", "ar", "rtl"), ("arc", "en", "ltr"),
            ] {
                let headers = ["Accept-Language": accepted]
                let answer = try await get("GET", "/app/", headers)
                let text = """
                    \(language) \(direction) of /app/files/\(Self.version)
                    <link href="/app/manifest.webmanifest?language=\(language)">
                    <link href="/app/files/\(Self.version)/icons/180.png">
                    """
                #expect(answer.status == 200 && answer.text == text, "\(accepted): \(answer)")
                #expect(answer["content-type"] == "text/html; charset=utf-8" && answer["cache-control"] == "no-cache")
                #expect(answer["vary"] == "Accept-Encoding, Accept-Language")
                let policy = answer["content-security-policy"] ?? ""
                #expect(policy.contains("worker-src 'self';") && policy.contains("manifest-src 'self';"), "\(policy)")
                let tag = try #require(answer["etag"])
                #expect(try await get("GET", "/app/", headers.merging(["If-None-Match": tag]) { $1 }).status == 304)
                #expect(try await get("GET", "/app/", ["If-None-Match": tag]).status == (language == "en" ? 304 : 200))
            }
        }
    }

    @Test("A path without its slash leads to the page, since the installed app has all that begins with it")
    func redirection() async throws {
        try await Self.with { get in
            for (target, location) in [("/app", "/app/"), ("/app?from=poster", "/app/?from=poster")] {
                let answer = try await get("GET", target, [:])
                #expect(answer.status == 308 && answer["location"] == location, "\(answer) \(answer.headers)")
            }
            #expect(try await get("GET", "/app/?from=poster", [:]).status == 200)
        }
    }

    @Test("The manifest has what browsers need to install the app, in the chosen language or the browser's")
    func manifest() async throws {
        try await Self.with { get in
            for (target, accepted, language, direction, name) in [
                ("", "", "en", "ltr", "Hub"), ("?language=ar", "en", "ar", "rtl", "مركز"), ("", "ar", "ar", "rtl", "مركز"),
                ("?language=en", "ar", "en", "ltr", "Hub"),
            ] {
                let answer = try await get("GET", "/app/manifest.webmanifest\(target)", ["Accept-Language": accepted])
                #expect(answer.status == 200 && answer["content-type"] == "application/manifest+json; charset=utf-8", "\(answer)")
                #expect(answer["cache-control"] == "no-cache" && answer["etag"] != nil)
                let expected = [
                    "id": "/app/", "start_url": "/app/", "scope": "/app/", "display": "standalone", "lang": language,
                    "dir": direction,
                    "name": name, "short_name": name, "background_color": "#f6f7f9", "theme_color": "#f6f7f9",
                ]
                for (member, value) in expected {
                    #expect(answer.object[member] as? String == value, "\(member): \(answer.text)")
                }
                let icons = try #require(answer.object["icons"] as? [[String: String]])
                #expect(
                    icons.map { [$0["sizes"], $0["type"], $0["purpose"]] } == [
                        ["any", "image/svg+xml", "any"], ["192x192", "image/png", "any"], ["512x512", "image/png", "any"],
                        ["512x512", "image/png", "maskable"],
                    ])
                #expect(icons.allSatisfy { $0["src"]?.hasPrefix("/app/files/\(Self.version)/icon") == true })
            }
            let refused = try await get("GET", "/app/manifest.webmanifest?language=de", [:])
            #expect(refused.status == 400 && refused.text.contains("language"), "\(refused)")
        }
    }

    @Test("The service worker names the version and its files, is asked for again, and may load files of the gateway alone")
    func serviceWorker() async throws {
        try await Self.with { get in
            let answer = try await get("GET", "/app/service-worker.js", [:])
            #expect(answer.status == 200 && answer["content-type"] == "text/javascript; charset=utf-8", "\(answer)")
            #expect(answer["cache-control"] == "no-cache")
            #expect(
                answer["content-security-policy"]
                    == "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; img-src 'self'; "
                    + "frame-ancestors 'none'")
            let lines = answer.text.split(separator: "\n").map(String.init)
            #expect(lines.last == "// the worker")
            // The page's pictures are for the system, which has its own copies; and a worker does not keep itself.
            #expect(
                lines.first == #"const release = {"version":"\#(Self.version)","files":["app.js","icon.svg","style/tokens.css","#
                    + #""text/ar/common.json","text/en/common.json"]};"#, "\(answer.text)")
            let tag = try #require(answer["etag"])
            #expect(try await get("GET", "/app/service-worker.js", ["If-None-Match": tag]).status == 304)
        }
    }

    @Test("The service worker as a module is the other one behind its imports, which have the path of the files")
    func pushWorker() async throws {
        try await Self.with { get in
            let plain = try await get("GET", "/app/service-worker.js", [:])
            let answer = try await get("GET", "/app/push-worker.js", [:])
            #expect(answer.status == 200 && answer["cache-control"] == "no-cache", "\(answer)")
            #expect(answer.text == "import \"/app/files/\(Self.version)/background.js\";\n" + plain.text)
            #expect(answer["content-security-policy"] == plain["content-security-policy"])
        }
    }

    @Test("Each change of a file, also of the service worker, is another version and another service worker")
    func versions() throws {
        let other = try [
            "app.js", "worker/service-worker.js", "worker/push-worker.js", "page.html", "text/ar/common.json",
        ].map { path in
            try AppFiles(Site(Self.site.files.merging([path: (Self.site.files[path] ?? Data()) + Data(" ".utf8)]) { $1 }))
        }
        let all = try [AppFiles(Self.site)] + other
        #expect(Set(all.map(\.assets.version)).count == all.count)
        #expect(Set(all.map(\.serviceWorker.plain.tag)).count == all.count)
        #expect(Set(all.map(\.pushWorker.plain.tag)).count == all.count)
    }

    @Test(
        "Files are kept for ever with the current version; with another one, as an earlier version of the app asks, they are the current ones"
    )
    func assets() async throws {
        try await Self.with { get in
            for (path, type) in [
                ("app.js", "text/javascript; charset=utf-8"), ("icon.svg", "image/svg+xml; charset=utf-8"),
                ("icons/192.png", "image/png"),
            ] {
                let answer = try await get("GET", "/app/files/\(Self.version)/\(path)", [:])
                #expect(answer.status == 200 && answer["content-type"] == type, "\(path): \(answer)")
                #expect(answer["cache-control"] == "public, max-age=31536000, immutable")
                #expect(answer["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'")
                let earlier = try await get("GET", "/app/files/0123456789abcdef/\(path)", [:])
                #expect(earlier.status == 200 && earlier.body == answer.body && earlier["cache-control"] == "no-cache")
            }
            for target in [
                "/app/files", "/app/files/", "/app/files/\(Self.version)", "/app/files/\(Self.version)/nothing.js",
                "/app/files/\(Self.version)/README.md", "/app/files/\(Self.version)/page.html",
                "/app/files/\(Self.version)/../../../etc/passwd", "/app/nothing",
            ] {
                let answer = try await get("GET", target, [:])
                #expect(answer.status == 404 && answer.problem == "not-found", "\(target): \(answer)")
            }
        }
    }

    @Test("Without the files the app says what is missing")
    func missingFiles() async throws {
        try await Self.with(nil) { get in
            for target in [
                "/app/", "/app/manifest.webmanifest", "/app/service-worker.js", "/app/push-worker.js", "/app/files/1/app.js",
            ] {
                let answer = try await get("GET", target, [:])
                #expect(answer.status == 404 && answer.problem == "not-found", "\(answer)")
                #expect(answer.text.contains("…_App.resources"), "\(answer)")
            }
        }
    }

    @Test("Requests for the app count as phones' requests, not as those of the portal behind the same address")
    func limits() async throws {
        let open = Route(.get, "/open", right: .anonymous, answer: .ok(String.self)) { _ in Answer("yes") }
        try await withRouteServer(
            AppRoutes(files: Self.files).routes + [open], requests: RequestLimits(perAccount: 1, perAddress: 1)
        ) { port in
            let connection = try HeldConnection(to: port)
            func ask(_ target: String) async throws -> HTTPAnswer {
                connection.send("GET", target)
                return try await connection.answer()
            }
            for _ in 0..<4 { #expect(try await ask("/app/service-worker.js").status == 200) }
            #expect(try await ask("/app/service-worker.js").status == 429)
            #expect(try await ask("/open").status == 200)
        }
    }
}

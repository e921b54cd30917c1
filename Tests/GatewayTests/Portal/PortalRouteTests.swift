import Foundation
import HTTPTypes
import NIOCore
import Pages
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// The portal's files over HTTP.
@Suite("Portal files", .timeLimit(.minutes(10)))
struct PortalRouteTests {
    private static let site = Site([
        "page.html": Data("page @frame@ of @files@\npage without a frame, @main@, of @files@\n@texts@".utf8),
        "pages.json": Data(
            """
            {"": {"module": "first.js", "texts": ["first"], "styles": []},
             "api": {"module": "api.js", "texts": ["api"], "styles": []},
             "send": {"module": "send.js", "texts": ["send", "more"], "styles": [], "frame": "sending"},
             "not-found": {"module": "not-found.js", "texts": [], "styles": []}}
            """.utf8),
        "style/page.css": Data("/* @files@ */".utf8), "lib/page.js": Data("import './other.js'".utf8),
        "text/en/send.json": Data("{}".utf8), "icon.svg": Data("<svg/>".utf8), "icon.png": Data([0x89, 0x50]),
        "portal.webmanifest": Data("{}".utf8), "font.woff2": Data([1]), "notes.txt": Data("private".utf8),
        "README": Data("private".utf8),
    ])
    private static let files = try? PortalFiles(site)
    private static var version: String { files?.version ?? "" }
    private static var root: String { "/portal/files/\(version)" }

    private static func with(
        _ files: PortalFiles? = files, _ body: @escaping @Sendable (_ get: Get) async throws -> Void
    ) async throws {
        try await withRouteServer(PortalRoutes(files: files).routes) { port in
            try await body { method, target, headers in
                try #require(
                    try await HTTPConversation.send(HTTPConversation.request(method, target, headers: headers), to: port))
            }
        }
    }

    private typealias Get = @Sendable (_ method: String, _ target: String, _ headers: [String: String]) async throws -> HTTPAnswer

    @Test("Pages come with the path of the files, are asked for again, and are not sent twice")
    func pages() async throws {
        try await Self.with { get in
            for (target, text) in [
                ("/", "page without a frame, main, of \(Self.root)\nfirst"),
                ("/api", "page without a frame, main, of \(Self.root)\napi"),
                ("/portal/send/", "page sending of \(Self.root)\nsend more"),
                ("/portal/send/?to=1", "page sending of \(Self.root)\nsend more"),
            ] {
                let answer = try await get("GET", target, [:])
                #expect(answer.status == 200 && answer.text == text, "\(target): \(answer)")
                #expect(answer["content-type"] == "text/html; charset=utf-8" && answer["cache-control"] == "no-cache")
                #expect(answer["content-security-policy"]?.contains("script-src 'self'") == true)
                let tag = try #require(answer["etag"])
                let again = try await get("GET", target, ["If-None-Match": tag])
                #expect(again.status == 304 && again.body.isEmpty && again["etag"] == tag, "\(again)")
                // The browser keeps the page's policy.
                #expect(again["content-security-policy"] == nil)
                let head = try await get("HEAD", target, [:])
                #expect(head.status == 200 && head.body.isEmpty && head["content-length"] == "\(text.utf8.count)", "\(head)")
            }
        }
    }

    @Test("A file is compressed for clients that accept it, with a separate ETag")
    func compression() async throws {
        let text = String(repeating: "The library opens late. ", count: 200)
        let files = try PortalFiles(
            Site([
                "lib/page.js": Data(text.utf8), "page.html": Data(text.utf8), "icon.png": Data([0x89, 0x50]),
                "pages.json": Data(#"{"": {"module": "lib/page.js", "texts": [], "styles": []}}"#.utf8),
            ]))
        try await Self.with(files) { get in
            for target in ["/", "/portal/files/\(files.version)/lib/page.js"] {
                let plain = try await get("GET", target, [:])
                #expect(plain.text == text && plain["content-encoding"] == nil && plain["vary"] == "Accept-Encoding")
                for accepted in ["gzip, deflate, br", "br;q=1, GZIP;q=0.5", "*"] {
                    let answer = try await get("GET", target, ["Accept-Encoding": accepted])
                    #expect(answer.status == 200 && answer["content-encoding"] == "gzip", "\(accepted): \(answer)")
                    #expect(answer["vary"] == "Accept-Encoding" && answer["content-length"] == "\(answer.body.count)")
                    #expect(answer.body.count < text.utf8.count / 10)
                    #expect(try await Data(answer.body).decompressed == Data(text.utf8))
                    let tag = try #require(answer["etag"])
                    #expect(tag != plain["etag"])
                    #expect(try await get("GET", target, ["Accept-Encoding": accepted, "If-None-Match": tag]).status == 304)
                    #expect(try await get("GET", target, ["If-None-Match": tag]).text == text)
                }
                for refused in ["gzip;q=0", "identity", "*;q=0", "br, gzip; q=0.0", ""] {
                    let answer = try await get("GET", target, ["Accept-Encoding": refused])
                    #expect(answer.text == text && answer["content-encoding"] == nil, "\(refused)")
                }
            }
            // It would not be smaller.
            let picture = try await get("GET", "/portal/files/\(files.version)/icon.png", ["Accept-Encoding": "gzip"])
            #expect(picture.body.count == 2 && picture["content-encoding"] == nil)
        }
    }

    @Test("A path without its slash leads to the page, and the portal to the page for sending")
    func redirections() async throws {
        try await Self.with { get in
            for (target, status, location) in [
                ("/portal/send", 308, "/portal/send/"), ("/portal/send?to=1", 308, "/portal/send/?to=1"),
                ("//portal//send", 308, "/portal/send/"), ("/portal", 303, "/portal/send/"), ("/portal/", 303, "/portal/send/"),
            ] {
                let answer = try await get("GET", target, [:])
                #expect(answer.status == status && answer["location"] == location, "\(target): \(answer) \(answer.headers)")
            }
        }
    }

    @Test("Files have their types, and are kept for ever with the current version and asked for again with another one")
    func assets() async throws {
        try await Self.with { get in
            for (path, type) in [
                ("style/page.css", "text/css; charset=utf-8"), ("lib/page.js", "text/javascript; charset=utf-8"),
                ("text/en/send.json", "application/json; charset=utf-8"), ("icon.svg", "image/svg+xml; charset=utf-8"),
                ("icon.png", "image/png"), ("portal.webmanifest", "application/manifest+json; charset=utf-8"),
                ("font.woff2", "font/woff2"),
            ] {
                let answer = try await get("GET", "/portal/files/\(Self.version)/\(path)", [:])
                #expect(answer.status == 200 && answer["content-type"] == type, "\(path): \(answer)")
                #expect(answer["cache-control"] == "public, max-age=31536000, immutable")
                #expect(answer["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'")
                let outdated = try await get("GET", "/portal/files/0123456789abcdef/\(path)", [:])
                #expect(outdated.status == 200 && outdated.body == answer.body && outdated["cache-control"] == "no-cache")
                let tag = try #require(outdated["etag"])
                let same = try await get("GET", "/portal/files/0123456789abcdef/\(path)", ["If-None-Match": tag])
                #expect(same.status == 304 && same["cache-control"] == "no-cache")
            }
            #expect(try await get("GET", "/portal/files/\(Self.version)/style/page.css", [:]).text == "/* @files@ */")
        }
    }

    @Test("Any other path is a page for browsers and a problem for other clients; no path leads out of the folder")
    func unknownPaths() async throws {
        let browser = ["Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"]
        try await Self.with { get in
            for target in [
                "/portal/nothing/", "/portal/nothing", "/portal/send/more", "/portal/files", "/portal/files/",
                "/portal/files/\(Self.version)", "/portal/files/\(Self.version)/nothing.js",
                "/portal/files/\(Self.version)/notes.txt", "/portal/files/\(Self.version)/README",
                "/portal/files/\(Self.version)/page.html", "/portal/files/\(Self.version)/../page.html",
                "/portal/files/\(Self.version)/../../../../etc/passwd", "/portal/files/\(Self.version)/..%2f..%2fetc%2fpasswd",
                "/portal/files/\(Self.version)/style/../style/page.css", "/portal/../etc/passwd/", "/portal/%2e%2e/",
            ] {
                let page = try await get("GET", target, browser)
                #expect(page.status == 404 && page.text == "page without a frame, main, of \(Self.root)\n", "\(target): \(page)")
                #expect(page["content-type"] == "text/html; charset=utf-8" && page["content-security-policy"]?.count ?? 0 > 100)
                let tag = try #require(page["etag"])
                #expect(try await get("GET", target, browser.merging(["If-None-Match": tag]) { $1 }).status == 404)
                for accept in ["*/*", "application/json", "text/html;q=0.5, application/json", ""] {
                    let problem = try await get("GET", target, ["Accept": accept])
                    #expect(problem.status == 404 && problem.problem == "not-found", "\(target), \(accept): \(problem)")
                }
            }
            #expect(try await get("GET", "/nothing", browser).problem == "not-found")
        }
    }

    @Test("The icon has the path for which browsers ask by themselves, and is asked for again")
    func icon() async throws {
        try await Self.with { get in
            let answer = try await get("GET", "/favicon.ico", [:])
            #expect(answer.text == "<svg/>" && answer["content-type"] == "image/svg+xml; charset=utf-8", "\(answer)")
            #expect(answer["cache-control"] == "no-cache")
            #expect(try await get("GET", "/favicon.ico", ["If-None-Match": try #require(answer["etag"])]).status == 304)
        }
    }

    @Test("The paths answer OPTIONS, and refuse changes")
    func otherMethods() async throws {
        try await Self.with { get in
            for target in ["/", "/api", "/favicon.ico", "/portal", "/portal/send/", "\(Self.root)/icon.svg"] {
                let options = try await get("OPTIONS", target, [:])
                #expect(options.status == 204 && options["allow"] == "GET, HEAD, OPTIONS", "\(target): \(options)")
                let refused = try await get("POST", target, [:])
                #expect(refused.status == 405 && refused["allow"] == "GET, HEAD, OPTIONS", "\(target): \(refused)")
            }
        }
    }

    @Test("Without the files the pages say what is missing")
    func missingFiles() async throws {
        try await Self.with(nil) { get in
            for target in ["/", "/api", "/favicon.ico", "/portal/send/", "/portal/send", "\(Self.root)/icon.svg"] {
                let answer = try await get("GET", target, ["Accept": "text/html"])
                #expect(answer.status == 404 && answer.problem == "not-found", "\(answer)")
                #expect(answer.text.contains("mobile-student-intranet_Gateway.resources"), "\(answer)")
            }
            #expect(try await get("GET", "/portal", [:]).status == 303)
        }
    }

    @Test("The version changes with the contents and the names of the files that are served, and only with them")
    func version() throws {
        let empty = ["page.html": Data("a".utf8), "pages.json": Data("{}".utf8)]
        let base = empty.merging(["lib/a.js": Data("b".utf8)]) { $1 }
        let other = [
            base.merging(["page.html": Data("b".utf8)]) { $1 }, base.merging(["lib/b.js": Data()]) { $1 },
            empty.merging(["lib/b.js": Data("b".utf8)]) { $1 }, empty,
        ]
        let versions = try ([base] + other).map { try PortalFiles(Site($0)).version }
        #expect(Set(versions).count == versions.count)
        #expect(try PortalFiles(Site(base.merging(["notes.txt": Data()]) { $1 })).version == versions[0])
        #expect(versions[0].wholeMatch(of: /[0-9a-f]{32}/) != nil)
    }

    @Test("Requests for files count for the address, even with the cookie of an account")
    func limits() async throws {
        let limits = RequestLimits(perAccount: 1, perAddress: 5)
        let open = Route(.get, "/open", right: .anyone, answer: .ok(String.self)) { _ in Answer("yes") }
        try await withRouteServer(
            PortalRoutes(files: Self.files).routes + [open], as: .sample(.communicator), requests: limits
        ) { port in
            let connection = try HeldConnection(to: port)
            func ask(_ target: String) async throws -> HTTPAnswer {
                connection.send("GET", target, "Cookie: msi_session=known")
                return try await connection.answer()
            }
            for _ in 0..<5 {
                let answer = try await ask("/portal/send/")
                #expect(answer.status == 200 && answer["ratelimit"] == nil, "\(answer)")
            }
            let refused = try await ask("/portal/send/")
            #expect(refused.status == 429 && refused["ratelimit-policy"]?.hasPrefix("\"address\"") == true, "\(refused)")
            #expect(try await ask("/open").status == 200)
        }
    }
}

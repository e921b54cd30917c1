import Base
import Foundation
import Pages
import Testing

/// The HTML of pages, and the modules that they name.
@Suite("Site of pages")
struct SiteTests {
    private static let template = """
        <html lang="@language@" dir="@direction@" data-text="@texts@">
        <title>@product@</title>
        <link href="@files@/@touch@">
        <link href="@manifest@">
        <script src="@files@/@first@"></script>
        <link href="@files@/@preload@">
        <link href="@files@/style/base.css">
        <link href="@files@/@style@">
        <link rel="modulepreload" href="@files@/@import@">
        <script type="module" src="@files@/@module@"></script>
        <noscript>@noscript@</noscript>
        <hub-shell page="@frame@"><main></main></hub-shell>
        <main id="@main@"></main>

        """

    private static let site = Site([
        "page.html": Data(template.utf8),
        "text/en/common.json": Data(#"{"product": "Hub", "noscript": "No."}"#.utf8),
        "text/ar/common.json": Data(#"{"product": "مركز"}"#.utf8),
        "text/ar/app.json": Data(#"{"alert": "تنبيه", "product": "آخر"}"#.utf8),
        "send/send.js": Data(
            """
            import { a } from "../lib/a.js";
            import {
              b,
              c,
            } from "./parts/b.js";
            import "./send.js";

            const later = await import("../lib/later.js");
            // import { d } from "./comment.js";
            """.utf8),
        "lib/a.js": Data(#"import { b } from "../send/parts/b.js";"#.utf8),
        "send/parts/b.js": Data("import { missing } from \"./missing.js\";\nexport const b = \"./text.js\";\n".utf8),
        "lib/later.js": Data(#"import "./never.js";"#.utf8),
    ])

    @Test("A page with a frame has a line for each style and for each module that is loaded at once")
    func framed() throws {
        var page = Page(first: "lib/early.js", styles: ["style/shell.css", "send/send.css"], module: "send/send.js")
        (page.texts, page.frame) = (["send", "templates"], "send")
        #expect(
            try Self.site.html(of: page, root: "/files/1") == """
                <html lang="en" dir="ltr" data-text="send templates">
                <title>Hub</title>
                <script src="/files/1/lib/early.js"></script>
                <link href="/files/1/style/base.css">
                <link href="/files/1/style/shell.css">
                <link href="/files/1/send/send.css">
                <link rel="modulepreload" href="/files/1/lib/a.js">
                <link rel="modulepreload" href="/files/1/send/parts/b.js">
                <link rel="modulepreload" href="/files/1/send/parts/missing.js">
                <script type="module" src="/files/1/send/send.js"></script>
                <noscript>No.</noscript>
                <hub-shell page="send"><main></main></hub-shell>

                """)
    }

    @Test("A page without a frame has its main part alone; a text that the catalogue lacks is its key")
    func unframed() throws {
        var page = Page(first: "lib/theme.js", styles: [], module: "lib/none.js")
        (page.language, page.isRightToLeft, page.preloads) = ("ar", true, ["text/ar/common.json"])
        #expect(
            try Self.site.html(of: page, root: "/files/1") == """
                <html lang="ar" dir="rtl" data-text="">
                <title>مركز</title>
                <script src="/files/1/lib/theme.js"></script>
                <link href="/files/1/text/ar/common.json">
                <link href="/files/1/style/base.css">
                <script type="module" src="/files/1/lib/none.js"></script>
                <noscript>noscript</noscript>
                <main id="main"></main>

                """)
    }

    @Test("A page that can be installed names its manifest and its picture")
    func installable() throws {
        var page = Page(first: "", styles: [], module: "")
        (page.manifest, page.touchIcon) = ("/app/manifest.webmanifest", "icons/180.png")
        let html = try Self.site.html(of: page, root: "/app/files/1")
        #expect(
            html.contains("<link href=\"/app/files/1/icons/180.png\">\n<link href=\"/app/manifest.webmanifest\">\n"), "\(html)")
    }

    @Test("A text is found in the parts of the catalogue that are asked for, the first one first")
    func texts() {
        #expect(Self.site.text("product", in: "ar", parts: ["common", "app"]) == "مركز")
        #expect(Self.site.text("alert", in: "ar", parts: ["common", "app"]) == "تنبيه")
        #expect(Self.site.text("alert", in: "ar") == "alert" && Self.site.text("alert", in: "en", parts: ["app"]) == "alert")
    }

    @Test("Words are text in the HTML, and are not read for other words; an unknown word stays")
    func escaped() throws {
        let site = Site([
            "page.html": Data("<title>@product@</title> @nothing@\n<link href=\"@style@\">".utf8),
            "text/en/common.json": Data(#"{"product": "<b> \"R&D\" @files@"}"#.utf8),
        ])
        #expect(
            try site.html(of: Page(first: "", styles: ["a&@files@.css"], module: ""), root: "/files")
                == #"<title>&lt;b> &quot;R&amp;D&quot; @files@</title> @nothing@"# + "\n" + #"<link href="a&amp;@files@.css">"#)
    }

    @Test("Without the HTML of all pages there is no page, and the error names the file")
    func missing() {
        #expect(throws: SchemaViolation(field: "page.html", problem: "missing, but required")) {
            try Site([:]).html(of: Page(first: "", styles: [], module: ""), root: "")
        }
    }

    @Test(
        "The modules that a page names are those that its real module loads at once",
        arguments: [
            ["Services/Gateway/Portal/Files"], ["Shared/App/Files", "Services/Gateway/App/AppFiles"],
            ["Shared/App/Files", "Services/Phone/Page/Files"],
        ])
    func realImports(folders: [String]) throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let site = try Site(
            reading: (["Shared/Pages/Files"] + folders).map { PageFolder(path: root.appending(path: $0).path) })
        // Each form of an import or export at the beginning of a line, but not `import(…)`, which loads later.
        let statement = /(?m)^[ \t]*(?:import|export)\b(?:[^;"'()=]*\bfrom)?\s*["'](\.[^"']+)["']/
        var direct: [String: Set<String>] = [:]
        for (path, contents) in site.files where path.hasSuffix(".js") {
            let place = URL(filePath: "/" + path).deletingLastPathComponent()
            direct[path] = Set(
                String(decoding: contents, as: UTF8.self).matches(of: statement).map {
                    String(place.appending(path: String($0.1)).standardized.path.dropFirst())
                })
        }
        #expect(direct.values.contains { $0.count > 5 })
        // The gateway completes the import of the worker.
        for module in direct.keys where module != "worker/push-worker.js" {
            var loaded = direct[module] ?? []
            while case let more = loaded.union(loaded.flatMap { direct[$0] ?? [] }), more != loaded { loaded = more }
            #expect(Set(site.imports(of: module)) == loaded.subtracting([module]), "\(module)")
        }
    }
}

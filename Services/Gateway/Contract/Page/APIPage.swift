import JSON

/// The API's document as a page, without scripts.
struct APIPage {
    private let document: JSONValue
    private let components: JSONValue
    private let problems: JSONValue

    /// - Parameter document: OpenAPI.
    init(of document: JSONValue) {
        self.document = document
        components = document["components"]?["schemas"] ?? [:]
        problems = document["components"]?["responses"] ?? [:]
    }

    var html: String {
        let page: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title) API</title>
            <link rel="stylesheet" href="/api.css">
            <link rel="icon" href="/favicon.ico" type="image/svg+xml">
            </head>
            <body>
            <header class="top"><a class="name" href="#overview">\(title) <span>API \(version)</span></a>\
            <a class="button" href="/openapi.json">OpenAPI 3.1</a></header>
            <div class="columns">
            <nav class="wide" aria-label="Contents">\(contents)</nav>
            <details class="narrow"><summary>Contents</summary><nav aria-label="Contents">\(contents)</nav></details>
            <main>
            <section id="overview"><h1>\(title)</h1>\(HTML(markdown: info("description")))\(tokenExample)</section>
            \(sections)
            \(documents)
            </main>
            </div>
            </body>
            </html>
            """
        return page.source
    }

    private func info(_ name: String) -> String { document["info"]?[name]?.string ?? "" }
    private var title: String { info("title") }
    private var version: String { info("version") }

    /// How the examples of curl get their token.
    private var tokenExample: HTML {
        """
        <figure><figcaption>The examples use the gateway's address from a variable, and the token from a file: it is no argument, \
        since every list of processes shows arguments</figcaption>\
        <pre tabindex="0"><code>hub=http://127.0.0.1:8080
        umask 077
        echo "Authorization: Bearer $(&lt;~/.local/state/msi/token)" &gt; authorization</code></pre></figure>
        """
    }

    // MARK: Sections

    private struct Section {
        let name: String
        let introduction: String
        let operations: [OperationView]

        var anchor: String { "section-" + name.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" } }
    }

    private var all: [Section] {
        let operations = (document["paths"]?.members ?? []).flatMap { path in
            (path.value.members ?? []).map {
                OperationView(
                    method: $0.name.uppercased(), path: path.name, operation: $0.value, components: components,
                    problems: problems)
            }
        }
        return (document["tags"]?.elements ?? []).map { tag in
            let name = tag["name"]?.string ?? ""
            return Section(
                name: name, introduction: tag["description"]?.string ?? "", operations: operations.filter { $0.tag == name })
        }
    }

    private var contents: HTML {
        let entries = all.map { section -> HTML in
            let operations = section.operations.map { operation -> HTML in
                "<li><a href=\"#\(operation.anchor)\">\(operation.summary)</a></li>"
            }
            return "<li><a class=\"section\" href=\"#\(section.anchor)\">\(section.name)</a><ul>\(operations)</ul></li>"
        }
        return """
            <ul><li><a class="section" href="#overview">Overview</a></li>\(entries)\
            <li><a class="section" href="#documents">Documents</a></li></ul>
            """
    }

    private var sections: HTML {
        HTML(
            all.map { section in
                """
                <section id="\(section.anchor)"><h2>\(section.name)</h2>\(HTML(markdown: section.introduction))\
                \(section.operations.map(\.html))</section>
                """
            })
    }

    // MARK: Documents

    /// The objects, texts and enumerations that the routes refer to.
    private var documents: HTML {
        let entries = (components.members ?? []).map { component -> HTML in
            """
            <article class="document" id="document-\(component.name)"><h3><code>\(component.name)</code></h3>\
            \(HTML(markdown: component.value["description"]?.string ?? ""))\(SchemaView(schema: component.value).details)</article>
            """
        }
        return """
            <section id="documents"><h2>Documents</h2>\
            <p>The objects, texts and enumerations that the routes refer to. If a name has the ending <code>Input</code>, it is what a \
            caller may send, and the name without it is what an answer has.</p>\(entries)</section>
            """
    }
}

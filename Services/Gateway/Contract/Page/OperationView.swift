import JSON

/// One route on the page.
struct OperationView {
    let method: String
    let path: String
    let operation: JSONValue
    /// The schemas by their names.
    let components: JSONValue
    /// The answers with problems by their names.
    let problems: JSONValue

    var tag: String { operation["tags"]?.elements?.first?.string ?? "" }
    var summary: String { operation["summary"]?.string ?? "" }
    var anchor: String { operation["operationId"]?.string ?? "" }

    var html: HTML {
        """
        <article id="\(anchor)" class="route"><div class="text">
        <h3><a href="#\(anchor)">\(summary)</a></h3>
        <p class="path"><span class="method">\(method)</span> <code>\(path)</code></p>
        <p class="rights">\(right)</p>
        \(HTML(markdown: operation["description"]?.string ?? ""))
        \(parameters)\(body)\(answers)
        </div><div class="examples">\(examples)</div></article>
        """
    }

    private var isOpen: Bool { operation["security"]?.elements?.contains([:]) ?? true }

    /// The required right, in words.
    private var right: HTML {
        guard !isOpen else { return "<span class=\"tag open\">open</span> No sign-in is needed." }
        let right = operation["security"]?.elements?.first?.members?.first?.value.elements?.first?.string
        let confirmation: HTML =
            operation["x-confirmed"] == true ? " <span class=\"tag\">the password confirmed within five minutes</span>" : ""
        return "<span class=\"tag\">\(right.map { "right: \($0)" } ?? "signed in")</span>\(confirmation)"
    }

    // MARK: Parameters and body

    private var parameters: HTML {
        let kinds = [("path", "In the path"), ("query", "In the query"), ("header", "Headers")]
        return HTML(
            kinds.map { place, title -> HTML in
                let rows = parameters(in: place).map { parameter in
                    SchemaView.row(
                        parameter["name"]?.string ?? "", parameter["schema"] ?? [:], isRequired: parameter["required"] == true,
                        note: parameter["description"]?.string)
                }
                return rows.isEmpty ? "" : "<h4>\(title)</h4><dl class=\"fields\">\(rows)</dl>"
            })
    }

    private func parameters(in place: String) -> [JSONValue] {
        (operation["parameters"]?.elements ?? []).filter { $0["in"]?.string == place }
    }

    private var content: JSONValue.Member? { operation["requestBody"]?["content"]?.members?.first }

    private var body: HTML {
        guard let content, let schema = content.value["schema"] else { return "" }
        let resolved = schema.componentName.flatMap { components[$0] } ?? schema
        return "<h4>Body</h4>\(SchemaView(schema: resolved).details)"
    }

    // MARK: Answers

    private var answers: HTML {
        let rows = (operation["responses"]?.members ?? []).map { answer -> HTML in
            let kind = answer.name.hasPrefix("2") ? "good" : answer.name.hasPrefix("3") ? "other" : "bad"
            return "<li><span class=\"status \(kind)\">\(answer.name)</span><div>\(contents(of: answer.value))</div></li>"
        }
        return "<h4>Answers</h4><ul class=\"answers\">\(rows)</ul>"
    }

    private func contents(of answer: JSONValue) -> HTML {
        let response = answer.componentName.flatMap { problems[$0] } ?? answer
        let contents = response["content"]?.members ?? []
        let documents = contents.map { content -> HTML in
            switch content.name {
            case "application/problem+json":
                let kinds = content.value["examples"]?.members?.map(\.name) ?? []
                return HTML(kinds.map { "<a class=\"problem\" href=\"/problems/\($0)\">\($0)</a> " })
            case "application/json": return "\(SchemaView(schema: content.value["schema"] ?? [:]).type) "
            default: return "<code>\(content.name)</code> "
            }
        }
        let text: HTML = contents.isEmpty ? "\(response["description"]?.string ?? "") " : ""
        let headers = (response["headers"]?.members ?? []).map(\.name).filter { $0 != "X-Request-Id" }
        let withHeaders: HTML = headers.isEmpty ? "" : "<span class=\"type\">with \(headers.joined(separator: ", "))</span>"
        return "\(text)\(documents)\(withHeaders)"
    }

    // MARK: Examples

    private var examples: HTML {
        let request: HTML = """
            <figure><figcaption>Request</figcaption><pre tabindex="0"><code>\(CurlCommand(of: self).text)</code></pre></figure>
            """
        for answer in operation["responses"]?.members ?? [] {
            guard let example = answer.value["content"]?["application/json"]?["example"] else { continue }
            return """
                \(request)<figure><figcaption>Answer \(answer.name)</figcaption>\
                <pre tabindex="0"><code>\(example.indented)</code></pre></figure>
                """
        }
        return request
    }
}

/// A request as a command of curl.
private struct CurlCommand {
    let text: String

    init(of view: OperationView) {
        let examples = SchemaExample(components: view.components)
        let parameters = view.operation["parameters"]?.elements ?? []
        func value(_ parameter: JSONValue) -> String {
            let value = parameter["example"] ?? examples.document(for: parameter["schema"] ?? [:])
            return value.string ?? value.text
        }
        let target = parameters.reduce(view.path) { $0.replacing("{\($1["name"]?.string ?? "")}", with: value($1)) }
        var lines = ["curl \(view.method == "GET" ? "" : "-X \(view.method) ")\"$hub\(target)\""]
        if !(view.operation["security"]?.elements?.contains([:]) ?? true) {
            lines.append("-H @authorization")
        }
        for header in parameters where header["in"] == "header" && header["name"] != "If-None-Match" {
            lines.append("-H '\(header["name"]?.string ?? ""): \(value(header))'")
        }
        if let content = view.operation["requestBody"]?["content"]?.members?.first {
            let document = content.value["example"] ?? examples.document(for: content.value["schema"] ?? [:])
            let body = document.string ?? document.indented
            lines.append("-d '\(body.replacing("'", with: #"'\''"#))'")
        }
        text = lines.joined(separator: " \\\n  ")
    }
}

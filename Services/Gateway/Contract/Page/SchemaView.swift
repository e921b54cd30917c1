import JSON

/// A JSON Schema in words.
struct SchemaView {
    let schema: JSONValue

    /// A list of an object's fields, the values of an enumeration, or the form of a text.
    var details: HTML {
        guard let properties = schema["properties"]?.members else { return "<p>\(type)\(limits)</p>" }
        let required = Set(schema["required"]?.elements?.compactMap(\.string) ?? [])
        let rows = properties.map { Self.row($0.name, $0.value, isRequired: required.contains($0.name)) }
        return rows.isEmpty ? "<p>No fields.</p>" : "<dl class=\"fields\">\(rows)</dl>"
    }

    /// A field or a parameter.
    ///
    /// - Parameter note: Its description; by default the schema's.
    static func row(_ name: String, _ schema: JSONValue, isRequired: Bool, note: String? = nil) -> HTML {
        let view = SchemaView(schema: schema)
        let optional: HTML = isRequired ? "" : "<span class=\"optional\">optional</span>"
        return """
            <div><dt><code>\(name)</code>\(optional)</dt><dd><span class="type">\(view.type)\(view.limits)</span>\
            \(HTML(markdown: note ?? schema["description"]?.string ?? ""))</dd></div>
            """
    }

    /// The type: a link to a document, or a word.
    var type: HTML {
        if let name = schema.componentName { return "<a href=\"#document-\(name)\">\(name)</a>" }
        if let values = schema["enum"]?.elements {
            return HTML(values.enumerated().map { $0 == 0 ? "<code>\($1.text)</code>" : " or <code>\($1.text)</code>" })
        }
        switch schema["type"]?.string {
        case "array": return "list of \(SchemaView(schema: schema["items"] ?? [:]).type)"
        case "object":
            guard let values = schema["additionalProperties"], values.members != nil else { return "object" }
            return "object, each field \(SchemaView(schema: values).type)"
        case "string": return "text"
        case "boolean": return "true or false"
        case let name?: return "\(name)"
        case nil: return "any JSON"
        }
    }

    private var limits: HTML {
        let ranges = [
            range("minimum", "maximum", ""), range("minLength", "maxLength", " characters"),
            range("minItems", "maxItems", " elements"),
        ]
        let words = ranges.compactMap { $0 } + (pattern.map { ["matches \($0)"] } ?? [])
        return words.isEmpty ? "" : ", \(words.joined(separator: ", "))"
    }

    private func range(_ min: String, _ max: String, _ unit: String) -> String? {
        guard let min = schema[min]?.number, let max = schema[max]?.number else { return nil }
        return "\(min) to \(max)\(unit)"
    }

    /// The pattern, unless it says only that a text has no U+0000 or is not blank, as most texts.
    private var pattern: String? {
        schema["pattern"]?.string.flatMap { $0.contains(#"\x00"#) ? nil : $0 }
    }
}

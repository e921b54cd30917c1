/// The names of types in a document.
enum ComponentName {
    /// A type's name with the names of the types around it: `MessageTemplate.Draft` is `MessageTemplateDraft`. The module's name and
    /// the ending `Routes` of the gateway's features are left out, and `ProblemRoutes.ProblemEntry` is `ProblemEntry`.
    static func of(_ type: Any.Type) -> String {
        let name = String(reflecting: type)
        guard let open = name.firstIndex(of: "<") else { return plain(name) }
        // A generic type: `ResourcePage<Shelf>` is `ResourcePageOfShelf`.
        let arguments = name[open...].dropFirst().dropLast().split(separator: ",").map { plain(String($0)) }
        return plain(String(name[..<open])) + "Of" + arguments.joined(separator: "And")
    }

    private static func plain(_ name: String) -> String {
        // A private type's context is in parentheses: `(unknown context at $7f…)`.
        var depth = 0
        let visible = name.filter { character in
            if character == "(" { depth += 1 }
            defer { if character == ")" { depth -= 1 } }
            return depth == 0
        }
        let parts = visible.split(separator: ".").dropFirst().map { $0.hasSuffix("Routes") ? $0.dropLast(6) : $0 }
        return parts.reduce("") { outer, part in part.hasPrefix(outer) ? String(part) : outer + part }
    }
}

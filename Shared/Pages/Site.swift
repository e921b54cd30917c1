package import FoundationEssentials
package import Base

/// The files that a program serves to browsers, by their paths: the shared ones, and its own.
///
/// All pages have one HTML, the shared file `page.html`. A word between two `@` in it stands for what the page has. A line with a
/// list is there once for each element.
package struct Site: Sendable {
    package let files: [String: Data]
    /// What each module imports at once, by the modules' paths.
    private let importedByModule: [String: [String]]

    package init(_ files: [String: Data]) {
        self.files = files
        importedByModule = Dictionary(
            uniqueKeysWithValues: files.filter { $0.key.hasSuffix(".js") }.map {
                ($0.key, Self.imports(of: $0.value, at: $0.key))
            })
    }

    /// Reads folders. A file of a later one replaces that of an earlier one.
    ///
    /// - Throws: An error of the file system.
    package init(reading folders: [PageFolder]) throws {
        self.init(try folders.reduce(into: [:]) { files, folder in files.merge(try folder.read()) { $1 } })
    }

    /// A text of the catalogue; the key if there is none.
    ///
    /// - Parameter parts: The parts of the catalogue that may have it.
    package func text(_ key: String, in language: String, parts: [String] = ["common"]) -> String {
        for part in parts {
            guard let file = files["text/\(language)/\(part).json"], let texts = try? JSONValue(parsing: file) else { continue }
            if let text = texts[key]?.string { return text }
        }
        return key
    }

    /// A file that has to be there.
    ///
    /// - Throws: `SchemaViolation` with the path, if it is not.
    package func required(_ path: String) throws(SchemaViolation) -> Data {
        guard let file = files[path] else { throw SchemaViolation(field: path, problem: "missing, but required") }
        return file
    }

    /// The HTML of a page.
    ///
    /// - Parameter root: The path at which the program serves the files, without a slash at its end.
    /// - Throws: `SchemaViolation` if `page.html` is missing.
    package func html(of page: Page, root: String) throws(SchemaViolation) -> String {
        let lists = [
            "preload": page.preloads, "style": page.styles, "import": imports(of: page.module),
            "manifest": page.manifest.map { [$0] } ?? [], "touch": page.touchIcon.map { [$0] } ?? [],
            "frame": page.frame.map { [$0] } ?? [], "main": page.frame == nil ? ["main"] : [],
        ]
        let words = [
            "language": page.language, "direction": page.isRightToLeft ? "rtl" : "ltr", "files": root, "first": page.first,
            "module": page.module, "texts": page.texts.joined(separator: " "), "product": text("product", in: page.language),
            "noscript": text("noscript", in: page.language),
        ]
        return String(decoding: try required("page.html"), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { line -> [String] in
                guard let (name, values) = lists.first(where: { line.contains("@\($0.key)@") }) else {
                    return [Self.fill(line, with: words)]
                }
                return values.map { Self.fill(line, with: words.merging([name: $0]) { $1 }) }
            }
            .joined(separator: "\n")
    }

    /// A line of HTML with words in the places that have their names. An unknown name stays.
    private static func fill(_ line: Substring, with words: [String: String]) -> String {
        var parts = line.split(separator: "@", omittingEmptySubsequences: false)[...]
        var filled = String(parts.removeFirst())
        while let part = parts.popFirst() {
            // What is between two of them, and a name.
            if let word = words[String(part)], let rest = parts.popFirst() {
                filled += word.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;") + rest
            } else {
                filled += "@" + part
            }
        }
        return filled
    }

    /// All modules that a module loads at once, without those that it loads later. A page names them, so that the browser does not
    /// learn of each one only from the module that imports it.
    package func imports(of module: String) -> [String] {
        var (found, waiting) = (Set<String>(), [module])
        while let next = waiting.popLast() {
            for imported in importedByModule[next] ?? [] where found.insert(imported).inserted { waiting.append(imported) }
        }
        return found.subtracting([module]).sorted()
    }

    /// A statement begins a line with `import`, and ends with the path in quotes and a semicolon.
    private static func imports(of source: Data, at module: String) -> [String] {
        var paths: [String] = []
        var isInside = false
        // An array, since data is slow to split.
        for line in [UInt8](source).split(separator: UInt8(ascii: "\n")) {
            guard isInside || line.starts(with: "import ".utf8) else { continue }
            isInside = line.last != UInt8(ascii: ";")
            let parts = String(decoding: line, as: UTF8.self).split(separator: "\"", omittingEmptySubsequences: false)
            if !isInside, parts.count > 2 { paths.append(path(String(parts[parts.count - 2]), from: module)) }
        }
        return paths
    }

    /// The path of a file that another one names by a relative path.
    private static func path(_ relative: String, from other: String) -> String {
        var parts = other.split(separator: "/").dropLast()
        for part in relative.split(separator: "/") where part != "." {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }
}

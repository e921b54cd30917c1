/// Text as HTML, with special characters escaped.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var source: String

    init(stringLiteral value: String) { source = value }
    init(stringInterpolation: Interpolation) { source = stringInterpolation.source }
    init(_ parts: [HTML]) { source = parts.map(\.source).joined() }

    /// A literal is markup; interpolated texts are escaped.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var source = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ literal: String) { source += literal }
        mutating func appendInterpolation(_ html: HTML) { source += html.source }
        mutating func appendInterpolation(_ parts: [HTML]) { source += parts.map(\.source).joined() }
        mutating func appendInterpolation(_ text: some StringProtocol) { source += Self.escaped(text) }

        private static func escaped(_ text: some StringProtocol) -> String {
            text.reduce(into: "") { escaped, character in
                switch character {
                case "&": escaped += "&amp;"
                case "<": escaped += "&lt;"
                case ">": escaped += "&gt;"
                case "\"": escaped += "&quot;"
                default: escaped.append(character)
                }
            }
        }
    }
}

extension HTML {
    /// Paragraphs of Markdown with `code` and **strong** text.
    init(markdown text: String) {
        self.init(text.split(separator: "\n\n").map { "<p>\(Self.inline($0))</p>" })
    }

    private static func inline(_ text: Substring) -> [HTML] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, piece in
            index.isMultiple(of: 2) ? HTML(strong(piece)) : "<code>\(piece)</code>"
        }
    }

    private static func strong(_ text: Substring) -> [HTML] {
        text.split(separator: "**", omittingEmptySubsequences: false).enumerated().map { index, piece in
            index.isMultiple(of: 2) ? "\(piece)" : "<strong>\(piece)</strong>"
        }
    }
}

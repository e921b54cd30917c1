import ServiceKit

extension String {
    /// The text without characters that control a terminal or the direction of what follows, which must not reach it from a foreign
    /// text.
    var withoutControlCharacters: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { !$0.isUnsafeInLine }))
    }

    /// The text with a full stop, unless it ends like a sentence already.
    var asSentence: String { last.map { ".?!".contains($0) } ?? true ? self : self + "." }

    /// The text in one line, with spaces for its line breaks, and shortened.
    func onOneLine(maxLength: Int) -> String {
        let line = split(whereSeparator: \.isNewline).joined(separator: " ").withoutControlCharacters
        return line.count > maxLength ? line.prefix(maxLength) + "…" : line
    }
}

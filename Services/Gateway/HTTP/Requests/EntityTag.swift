import HTTPTypes
import Hummingbird

/// An entity tag (RFC 9110, section 8.8.3) without its mark of weakness: a proxy that compresses an answer makes `W/"v17"` of `"v17"`, and
/// the data are the same.
struct EntityTag: Hashable, Sendable {
    /// The text between the quotes.
    let text: String

    /// The tag without the name of a coding, which a proxy may add: Apache makes `"v17-gzip"` of `"v17"`.
    var withoutCoding: EntityTag {
        let coding = Self.codings.first { text.hasSuffix($0) }
        return EntityTag(text: String(text.dropLast(coding?.count ?? 0)))
    }

    private static let codings = ["-gzip", "-br", "-zstd", "-deflate"]
}

/// The entity tags of `If-Match` or `If-None-Match` (RFC 9110, sections 13.1.1 and 13.1.2).
enum EntityTags: Hashable, Sendable {
    /// `*`: the object in any version.
    case any
    case list([EntityTag])

    /// - Returns: `nil` if the text breaks the grammar.
    init?(_ field: String) {
        var rest = field.utf8[...]
        func skip(_ isSkipped: (UInt8) -> Bool) { rest = rest.drop(while: isSkipped) }
        func take(_ text: StaticString) -> Bool {
            let found = rest.starts(with: "\(text)".utf8)
            if found { rest = rest.dropFirst(text.utf8CodeUnitCount) }
            return found
        }
        let isSpace = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } as (UInt8) -> Bool
        skip(isSpace)
        if take("*") {
            skip(isSpace)
            guard rest.isEmpty else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        // Elements of a list may be empty (section 5.6.1.2).
        let isBetween = { isSpace($0) || $0 == UInt8(ascii: ",") }
        skip(isBetween)
        while !rest.isEmpty {
            _ = take("W/")
            guard take("\"") else { return nil }
            let text = rest.prefix { $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }
            rest = rest[text.endIndex...]
            guard take("\"") else { return nil }
            tags.append(EntityTag(text: String(decoding: text, as: UTF8.self)))
            skip(isSpace)
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
            skip(isBetween)
        }
        guard !tags.isEmpty else { return nil }
        self = .list(tags)
    }
}

extension Request {
    /// Whether the client has an answer already: `If-None-Match` has its tag. A header that breaks the grammar is ignored.
    ///
    /// - Parameters:
    ///   - tag: The answer's `ETag`.
    ///   - isEncoded: Whether the tag names the coding of the answer. Then tags of other codings do not match.
    func knows(_ tag: String, isEncoded: Bool = false) -> Bool {
        guard let field = headers.value(of: .ifNoneMatch) else { return false }
        guard field != tag else { return true }
        return switch EntityTags(field) {
        case .any: true
        case .list(let tags): tags.contains { "\"\($0.text)\"" == tag || !isEncoded && "\"\($0.withoutCoding.text)\"" == tag }
        case nil: false
        }
    }
}

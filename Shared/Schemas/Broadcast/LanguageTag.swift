/// A language tag (BCP 47): a language of ISO 639-1, then a script of four letters and a region, if any, such as `en`, `pt-BR` or
/// `zh-Hant-TW`. In any case, since BCP 47 compares tags so.
package struct LanguageTag: Hashable, Sendable {
    package let text: String

    /// - Returns: `nil` for a text that names no language.
    package init?(_ text: String) {
        var rest = text.split(separator: "-", omittingEmptySubsequences: false)[...]
        guard let language = rest.popFirst(), Self.languages.contains(language.lowercased()) else { return nil }
        if let script = rest.first, script.count == 4, script.allSatisfy(\.isASCIILetter) { rest.removeFirst() }
        if let region = rest.first {
            let isCountry = region.count == 2 && region.allSatisfy(\.isASCIILetter)
            let isArea = region.count == 3 && region.allSatisfy(\.isASCIIDigit)
            guard isCountry || isArea else { return nil }
            rest.removeFirst()
        }
        guard rest.isEmpty else { return nil }
        self.text = text
    }

    /// The keys under which texts for this tag may be, the best one first: `pt-br`, then `pt`.
    package static func fallbacks(of tag: String) -> [String] {
        let parts = tag.lowercased().split(separator: "-")
        return parts.indices.reversed().map { parts[...$0].joined(separator: "-") }
    }

    /// ISO 639-1.
    private static let languages = Set(
        """
        aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et \
        eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl \
        km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj \
        om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to \
        tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
        """.split(separator: " ").map(String.init))
}

extension Character {
    fileprivate var isASCIILetter: Bool { isASCII && isLetter }
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension BroadcastActionData {
    /// The texts for a phone: in its language, or in its language without region and script, or else in the default language.
    package func texts(in language: String, or fallback: String) -> Translation? {
        guard let translations else { return nil }
        let known = Dictionary(translations.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
        for tag in LanguageTag.fallbacks(of: language) + LanguageTag.fallbacks(of: fallback) {
            if let texts = known[tag] { return texts }
        }
        return translations.min { $0.key < $1.key }?.value
    }
}

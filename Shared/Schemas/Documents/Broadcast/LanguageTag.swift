/// A language tag (BCP 47): a language of ISO 639, then a script of four letters and a region, if any, such as `en`, `sat`, `pt-BR`
/// or `zh-Hant-TW`. A language that has a code of two letters is named by it. In any case, since BCP 47 compares tags so.
package struct LanguageTag: Hashable, Sendable {
    package let text: String

    /// - Returns: `nil` for a text that names no language.
    package init?(_ text: String) {
        var rest = text.split(separator: "-", omittingEmptySubsequences: false)[...]
        guard let language = rest.popFirst(), Self.isLanguage(Self.key(of: String(language))) else { return nil }
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

    /// The tag as tags are compared: in lower case, with the language's code of today. Some phones have withdrawn ones.
    package static func key(of tag: String) -> String {
        var parts = tag.lowercased().split(separator: "-", omittingEmptySubsequences: false)
        if let current = parts.first.flatMap({ withdrawnCodes[$0] }) { parts[0] = current }
        return parts.joined(separator: "-")
    }

    /// The keys under which texts for this tag may be, the best one first: `pt-br`, then `pt`.
    package static func fallbacks(of tag: String) -> [String] {
        let parts = key(of: tag).split(separator: "-")
        return parts.indices.reversed().map { parts[...$0].joined(separator: "-") }
    }

    private static func isLanguage(_ code: String) -> Bool {
        twoLetterLanguages.contains(code) || threeLetterLanguages.contains(code)
    }

    /// Codes that ISO 639-1 has withdrawn.
    private static let withdrawnCodes: [Substring: Substring] = ["iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro"]

    /// ISO 639-1.
    private static let twoLetterLanguages = Set(
        """
        aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et \
        eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl \
        km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj \
        om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to \
        tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
        """.split(separator: " ").map(String.init))

    /// The living languages of ISO 639-2 that have no code of two letters (Debian's iso-codes 4.15.0), and of ISO 639-3 Bodo (`brx`),
    /// the one official language of India that ISO 639-2 lacks. Names of groups of languages are left out.
    private static let threeLetterLanguages = Set(
        """
        ace ach ada ady ain ale alt anp arn arp arw ast awa bal ban bas bej bem bho bik bin bla bra brx bua bug byn cad car ceb \
        chk chm chn cho chp chr chy cnr crh csb dak dar del den dgr din doi dsb dua dyu efi eka ewo fan fat fil fon frr frs fur \
        gaa gay gba gil gon gor grb gsw gwi hai haw hil hmn hsb hup iba ilo inh jpr jrb kaa kab kac kam kbd kha kmb kok kos kpe \
        krc krl kru kum kut lad lah lam lez lol loz lua lun luo lus mad mag mai mak man mas mdf mdr men mic min mnc mni moh mos \
        mus mwl mwr myv nap nds new nia niu nog nqo nso nym nyn nyo nzi osa pag pam pap pau pon raj rap rar rom rup sad sah sas \
        sat scn sco sel shn sid sma smj smn sms snk srn srr suk sus syr tem ter tet tig tiv tkl tli tmh tog tpi tsi tum tvl tyv \
        udm umb vai vot wal war was xal yao yap zap zen zgh zun zza
        """.split(separator: " ").map(String.init))
}

extension Character {
    fileprivate var isASCIILetter: Bool { isASCII && isLetter }
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension BroadcastActionData {
    /// Chooses the texts for a phone, in this order: its language; its language without region and script; its language with another region
    /// or script (the alphabetically first one); the default language.
    package func texts(in language: String, or fallback: String) -> Translation? {
        guard let translations else { return nil }
        let known = Dictionary(translations.map { (LanguageTag.key(of: $0.key), $0.value) }) { first, _ in first }
        for tag in [language, fallback] {
            let candidates = LanguageTag.fallbacks(of: tag)
            if let texts = candidates.lazy.compactMap({ known[$0] }).first { return texts }
            guard let primary = candidates.last else { continue }
            if let other = known.keys.filter({ $0.hasPrefix(primary + "-") }).min() { return known[other] }
        }
        return translations.min { $0.key < $1.key }?.value
    }
}

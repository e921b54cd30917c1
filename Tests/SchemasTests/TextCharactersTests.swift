import Foundation
import Base
import Schemas
import Testing

@Suite("Characters of texts")
struct TextCharactersTests {
    /// Without ink, such as a zero width space, a soft hyphen, blanks of Hangul and braille, a byte order mark and a selector.
    static let invisible = [
        "\u{200B}", " \u{AD}\n", "\u{3164}", "\u{115F}\u{1160}", "\u{2800}", "\u{FEFF}", "\u{200E}\u{202E}", "\u{2060}",
        "\u{FE0F}", "\u{E0041}", "\u{34F}", "\u{FFFA}", "\u{1B}",
    ]

    private func matchesPattern(_ text: String, of limits: TextLimits) throws -> Bool {
        let pattern = try #require(limits.limit.keywords["pattern"]?.string)
        return text.range(of: pattern, options: .regularExpression) != nil
    }

    @Test("A text without a visible character is empty, wherever people see it", arguments: invisible)
    func empty(text: String) throws {
        for limits in [TextLimits.name, .title, .messageText, PeopleLimits.tokenName] {
            #expect(limits.problem(with: text) == "expected a text that is not empty")
            // The pattern has only the first plane.
            #expect(try !matchesPattern(text, of: limits) || text == "\u{E0041}")
        }
        #expect(throws: SchemaViolation.self) {
            try JSONCoder.decodeStrictly(MessageContent.self, from: DraftTests.message(desc: text))
        }
    }

    @Test(
        "Titles and names have no control characters, separators and overrides; texts of several lines have them",
        arguments: ["\n", "\u{1B}", "\t", "\u{7F}", "\u{85}", "\u{2028}", "\u{2029}", "\u{202A}", "\u{202E}"])
    func oneLine(character: String) throws {
        let text = "A\(character)B"
        for limits in [TextLimits.name, .title, PeopleLimits.tokenName] {
            #expect(limits.problem(with: text)?.hasPrefix("expected a text without the character U+") == true)
            #expect(try !matchesPattern(text, of: limits))
        }
        for limits in [TextLimits.messageText, .notificationBody, .description] { #expect(limits.problem(with: text) == nil) }
    }

    @Test(
        "Names that look like others are refused",
        arguments: [
            "Tw\u{200B}in", "Tw\u{AD}in", "Tw\u{200D}in", "\u{200D}Twin", "Twin\u{200C}", "Tw\u{2060}in", "Twin\u{FEFF}",
            "T\u{200E}win",
            "Tw\u{FE0F}in", "Twin\u{E0041}", "Tw\u{3164}in", "Caf\u{E9}\u{FE0F}", "\u{2067}Twin",
        ])
    func lookAlike(name: String) {
        #expect(TextLimits.name.problem(with: name)?.contains("U+") == true)
        #expect(TextLimits.title.problem(with: name) == nil)
    }

    @Test(
        "A name whose words mix alphabets is refused: it would look like another one",
        arguments: [
            ("\u{422}win", "U+0422"), ("Tw\u{456}n", "U+0456"), ("Library P\u{430}ris", "U+0430"), ("Москв\u{61}", "U+041C"),
            ("\u{41C}\u{306}en\u{73}a", "U+041C"), ("\u{3A4}win", "U+03A4"), ("t\u{3CC}pic", "U+03CC"), ("\u{41}θήνα", "U+03B8"),
            ("αβ\u{430}", "U+0430"), ("ΔΩr", "U+0394"), ("\u{212A}\u{438}\u{435}\u{432}", "U+0438"),
            ("\u{41C}\u{212B}", "U+041C"), ("\u{1D0B}\u{43E}t", "U+043E"), ("a\u{1D2B}", "U+1D2B"), ("a\u{1D5D}", "U+1D5D"),
        ] as [(String, String)])
    func mixedAlphabets(name: String, code: String) {
        #expect(TextLimits.name.problem(with: name)?.contains(" \(code) ") == true)
        #expect(TextLimits.title.problem(with: name) == nil)
    }

    @Test(
        "A name may have several alphabets in different words, and a Greek letter as a symbol",
        arguments: [
            "Café Москва", "Café-Москва", "Афины Αθήνα", "μ-Controller", "α-Test", "10 kΩ", "5 k\u{2126}", "300 \u{212A}",
            "5 \u{212B}ngström", "\u{1D00}b",
            "ΔT", "5 µm", "5 μm",
            "USB-кабель", "Wi‑Fi №5", "Е\u{308}лка", "naïve façade", "東京Tower", "N°1 Москва2b",
        ])
    func severalAlphabets(name: String) throws {
        #expect(TextLimits.name.problem(with: name) == nil)
        #expect(try matchesPattern(name, of: .name))
    }

    @Test("A tidied text has no white space around it, one space for more, and nothing invisible for nothing")
    func tidied() {
        #expect(" \u{A0}two \t\u{3000} words\u{200B} ".tidied == "two words")
        #expect("Pri\u{2060}s\u{200D}ms\u{FEFF}".tidied == "Prisms" && "a \u{200B} b".tidied == "a b")
        #expect("Café".tidied == "Café" && "\u{200B}\u{2800}".tidied.isEmpty)
    }

    @Test("A name is not a folder of a path", arguments: [".", ".."])
    func folders(name: String) throws {
        #expect(try TextLimits.name.problem(with: name) != nil && !matchesPattern(name, of: .name))
        #expect(TextLimits.title.problem(with: name) == nil && TextLimits.name.problem(with: "a..") == nil)
    }

    @Test(
        "Emoji and scripts that need joiners are valid in names",
        arguments: [
            "می\u{200C}خواهم", "क्\u{200D}ष", "ත්\u{200D}ය", "👩\u{200D}🎓", "👩🏽\u{200D}🎓", "❤\u{FE0F}\u{200D}🔥", "1\u{FE0F}\u{20E3}",
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}", "葛\u{E0100}飾", "مكتبة", "Zürich", "ห้องสมุด", "x",
        ])
    func joiners(name: String) throws {
        #expect(TextLimits.name.problem(with: name) == nil && name.tidied == name)
        #expect(try matchesPattern(name, of: .name))
    }

    @Test("What an earlier version has stored goes out: the relay and the message log read it by the rules of then")
    func stored() throws {
        let id = ObjectID()
        let draft = MessageContent(
            title: "\u{200B}", desc: "\u{200B}", message: "\u{200B}", topicKey: try #require(TopicKey(DraftTests.topicKey)),
            distribution: .alert)
        #expect(throws: SchemaViolation.self) { try draft.check() }
        // A template of an earlier version can be sent.
        var filled = draft
        filled.template = id
        try filled.check()
        let relayed = RelayMessage(msiKey: id, timestamp: 0, content: draft)
        #expect(try RelayMessage(payload: relayed.payload()) == relayed)
        let names = CubeNames(channel: "a\nb", area: "\u{200B}", subject: "c")
        #expect(try JSONCoder.decodeStrictly(CubeNames.self, from: JSONCoder.encode(names)) == names)
    }
}

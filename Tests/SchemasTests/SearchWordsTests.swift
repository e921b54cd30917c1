import Base
import Schemas
import Testing

@Suite("Words of a search")
struct SearchWordsTests {
    @Test(
        "Texts that Unicode and their readers take for the same are found by each other",
        arguments: [
            ("Straße", "STRASSE"), ("STRAẞE", "strasse"), ("İSTANBUL", "istanbul"), ("ISPARTA", "ısparta"), ("ΟΔΟΣ", "οδος"),
            ("Caf\u{E9}", "CAFE\u{301}"), ("ﬁn", "FIN"), ("ＡＢ１", "ab1"), ("Biblio\u{AD}thek", "bibliothek"),
            ("가", "\u{1100}\u{1161}"),
            ("مُحَمَّد", "محمد"), ("مـــحمد", "محمد"), ("أحمد إلى آن", "احمد الى ان"), ("مدرسة", "مدرسه"), ("علی", "علي"),
            ("مسؤول", "مسوول"), ("٢٠٢٦", "2026"), ("שָׁלוֹם", "שלום"), ("می\u{200C}خواهم", "میخواهم"), ("プ", "フ\u{309A}"),
        ])
    func same(one: String, other: String) {
        #expect(one.searchFolded.utf8.elementsEqual(other.searchFolded.utf8), "\(one.searchFolded) \(other.searchFolded)")
    }

    @Test(
        "Accents, and the letters of other scripts, matter", arguments: [("café", "cafe"), ("й", "и"), ("が", "か"), ("ä", "ae")])
    func different(one: String, other: String) {
        #expect(one.searchFolded != other.searchFolded)
    }

    @Test(
        "In scripts without spaces each letter is a word",
        arguments: [
            ("ห้องสมุดปิด", "ห้ อ ง ส มุ ด ปิ ด"), ("としょかんプール", "と し ょ か ん プ ー ル"), ("休講です", "休 講 で す"), ("ຫ້ອງສະ", "ຫ້ ອ ງ ສ ະ"),
            ("បណ្ណាល័យ", "ប ណ្ ណា ល័ យ"), ("စာကြည့်", "စာ ကြ ည့်"), ("Raum休B12", "raum 休 b12"), ("Übung, x\u{200B}y", "übung x y"),
        ])
    func letters(text: String, words: String) {
        #expect(SearchWords(text).joined(separator: " ") == words)
    }

    @Test("A star has no meaning after such a letter, and a long run is not an error")
    func queries() {
        let terms = SearchQuery("図書*")?.terms ?? []
        #expect(terms.map(\.words) == [["図"], ["書"]] && !terms.contains { $0.isPrefix })
        let letters = String(String.UnicodeScalarView((0x4E00..<0x4E80).compactMap { Unicode.Scalar($0) }))
        #expect(SearchQuery(letters + " exam*")?.terms.count == 41)
        #expect(SearchQuery((0...20).map { "word\($0)" }.joined(separator: " ")) == nil)
    }

    @Test(
        "What one character joins has its words, each two neighbours as one word, and all of them as one",
        arguments: [
            ("Wi-Fi", "wi fi wifi"), ("E-Mail-Adresse!", "e mail adresse email mailadresse emailadresse"), ("WiFi", "wifi"),
            ("O\u{2019}Neill, R&D", "o neill oneill r d rd"), ("22:30 – 23", "22 30 2230 23"),
            ("COVID\u{2011}19", "covid 19 covid19"),
            ("no -- joint\nhere", "no joint here"), ("a/休/b c-", "a 休 b c"), ("x\u{200B}y", "x y"), ("واي-فاي", "واي فاي وايفاي"),
        ])
    func compounds(text: String, words: String) {
        #expect(SearchWords(text).joined(separator: " ") == words)
    }

    /// The words of a text by Unicode's properties: no text with a Hebrew letter takes the fast path.
    private func wordsByUnicode(of text: String) -> [String] {
        let words = Array(SearchWords(text + " \u{5D0}"))
        #expect(words.last == "\u{5D0}")
        return words.dropLast()
    }

    @Test("The fast path for common texts finds the same words around each character")
    func fastCharacters() {
        let codes = Array(UInt32(0)...0x17F) + Array(0x2000...0x20CF)
        for scalar in codes.compactMap({ Unicode.Scalar($0) }) {
            for text in ["\(scalar)", "a\(scalar)b", "Ä\(scalar)\(scalar)\u{DF}", "i\(scalar) \(scalar)I-\(scalar)"] {
                // By bytes: equal strings may have other normal forms.
                let words = SearchWords(text).map { Array($0.utf8) }
                #expect(words == wordsByUnicode(of: text).map { Array($0.utf8) }, "\(scalar.value) in \(text)")
            }
        }
    }

    @Test("The fast path finds the same words in random texts, with words that are too long", arguments: 0..<8)
    func fastTexts(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ascii = (UInt8(0)..<0x80).map { Unicode.Scalar($0) }
        let letters = Array("aAbBiIkKzZ09äÄöÖüÜßéÉñÿ".unicodeScalars)
        let others = Array(" \n\t-'/.,×÷–’„“…€".unicodeScalars)
        for _ in 0..<300 {
            var text = String.UnicodeScalarView()
            let (isASCII, mostlyLetters) = (Bool.random(using: &random), Int.random(in: 2...80, using: &random))
            for _ in 0..<Int.random(in: 0...200, using: &random) {
                let isOther = Int.random(in: 0..<mostlyLetters, using: &random) == 0
                let choice = isASCII ? ascii : isOther ? others : letters
                text.append(choice[Int.random(in: 0..<choice.count, using: &random)])
            }
            let words = SearchWords(String(text)).map { Array($0.utf8) }
            #expect(words == wordsByUnicode(of: String(text)).map { Array($0.utf8) }, "\(String(text).debugDescription)")
        }
    }

    @Test("A compound may occur as its words or as one, and counts as its words")
    func compoundQueries() {
        let terms = SearchQuery("wi-fi exam")?.terms ?? []
        #expect(terms.map(\.words) == [["wi", "fi"], ["exam"]] && terms.map(\.joined) == ["wifi", nil])
        let prefix = SearchQuery("e-mail*")?.terms ?? []
        #expect(prefix.map(\.words) == [["e", "mail"]] && prefix.map(\.isPrefix) == [true])
        #expect(SearchQuery("wi-f*") == nil)
        #expect(SearchQuery((0...20).map { "w\($0)" }.joined(separator: "-")) == nil)
    }
}

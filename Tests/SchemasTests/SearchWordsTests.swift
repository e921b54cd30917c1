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

    @Test("A star has no meaning after such a letter, and a long run is no error")
    func queries() {
        let terms = SearchQuery("図書*")?.terms ?? []
        #expect(terms.map(\.word) == ["図", "書"] && !terms.contains { $0.isPrefix })
        let letters = String(String.UnicodeScalarView((0x4E00..<0x4E80).compactMap { Unicode.Scalar($0) }))
        #expect(SearchQuery(letters + " exam*")?.terms.count == 41)
        #expect(SearchQuery((0...20).map { "word\($0)" }.joined(separator: " ")) == nil)
    }
}

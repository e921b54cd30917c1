import FoundationEssentials
import Base
import Testing

@Suite("Files with the number of their form")
struct NumberedFileTests {
    private struct Note: NumberedFile, Equatable {
        static let formats = FormatVersions(written: 2, readable: 1...3)

        let text: String
    }

    private func read(_ json: String) throws -> Note { try Note.read(Data(json.utf8), from: "/state/note.json") }

    @Test("Every readable number is read, with fields that this version does not know", arguments: 1...3)
    func readable(number: Int) throws {
        #expect(try read(#"{"format":\#(number),"text":"t","more":[1]}"#) == Note(text: "t"))
    }

    @Test("A file that was read in another form is written with the number of this version's form", arguments: 1...3)
    func written(number: Int) throws {
        let note = try read(#"{"format":\#(number),"text":"t"}"#)
        #expect(String(decoding: try note.encoded(), as: UTF8.self) == #"{"format":2,"text":"t"}"#)
    }

    @Test("An unknown number is refused with the file's name and both numbers, whatever else the file has", arguments: [0, 4])
    func unknown(number: Int) {
        let error = #expect(throws: UnknownFormat.self) { try read(#"{"format":\#(number),"texts":[]}"#) }
        #expect(
            error?.description
                == "/state/note.json has the format \(number), which this version does not know; the highest one that it knows is 3"
        )
    }

    @Test("A file without a number is damaged")
    func missing() {
        #expect(throws: SchemaViolation.self) { try read(#"{"text":"t"}"#) }
    }
}

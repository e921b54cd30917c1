import FoundationEssentials
import Base
import Testing

/// Invalid documents of callers are refused, and the error has the field's path. Stored documents, replies and events may
/// contain unknown fields.
@Suite("Strict decoding")
struct StrictDecodingTests {
    private struct Order: Codable, Checked, Equatable {
        struct Line: Codable, Checked, Equatable {
            var item: String
            var count: Int?
            var price: Double?
            var isGift: Bool?
            var notes: [String]?

            func check() throws(SchemaViolation) {
                if let count, count < 1 { throw SchemaViolation(field: "count", problem: "expected 1 or more") }
            }
        }

        var number: Int64
        var lines: [Line]
        var colour: Colour?
        var labels: [String: Int]?

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case number, lines, colour
            case labels = "label_counts"
        }

        func check() throws(SchemaViolation) {
            if lines.isEmpty { throw SchemaViolation(field: "lines", problem: "expected one or more") }
            if number == 0 { throw SchemaViolation(field: "", problem: "expected an order") }
        }
    }

    private enum Colour: String, ClosedEnum {
        case red, blue
    }

    private static func order(_ text: String) -> Data { Data(text.utf8) }

    @Test(
        "An error names the path and the expected value",
        arguments: [
            ("[]", "", "expected an object"), ("null", "", "expected an object, found null"),
            ("{}", "number", "missing, but required"),
            (#"{"lines":[]}"#, "number", "missing, but required"),
            (#"{"number":1}"#, "lines", "missing, but required"),
            (#"{"number":null,"lines":[]}"#, "number", "expected an integer, found null"),
            (#"{"number":"1","lines":[]}"#, "number", "expected an integer"),
            (#"{"number":1.5,"lines":[]}"#, "number", "expected an integer"),
            (
                #"{"number":9223372036854775808,"lines":[]}"#, "number",
                "expected an integer from -9223372036854775808 to 9223372036854775807"
            ),
            (#"{"number":1,"lines":{}}"#, "lines", "expected an array"),
            (#"{"number":1,"lines":null}"#, "lines", "expected an array, found null"),
            (#"{"number":1,"lines":[7]}"#, "lines[0]", "expected an object"),
            (#"{"number":1,"lines":[null]}"#, "lines[0]", "expected an object, found null"),
            (#"{"number":1,"lines":[{"item":"a"},{}]}"#, "lines[1].item", "missing, but required"),
            (#"{"number":1,"lines":[{"item":true}]}"#, "lines[0].item", "expected a string"),
            (#"{"number":1,"lines":[{"item":"a","count":null}]}"#, "lines[0].count", "expected an integer, found null"),
            (#"{"number":1,"lines":[{"item":"a","price":null}]}"#, "lines[0].price", "expected a number, found null"),
            (#"{"number":1,"lines":[{"item":"a","price":"1"}]}"#, "lines[0].price", "expected a number"),
            (#"{"number":1,"lines":[{"item":"a","isGift":null}]}"#, "lines[0].isGift", "expected true or false, found null"),
            (#"{"number":1,"lines":[{"item":"a","isGift":1}]}"#, "lines[0].isGift", "expected true or false"),
            (#"{"number":1,"lines":[{"item":"a","notes":["b",7]}]}"#, "lines[0].notes[1]", "expected a string"),
            (#"{"number":1,"lines":[{"item":"a","notes":null}]}"#, "lines[0].notes", "expected an array, found null"),
            (#"{"number":1,"lines":[],"colour":null}"#, "colour", "expected a string, found null"),
            (#"{"number":1,"lines":[],"colour":"pink"}"#, "colour", #"expected one of "red", "blue", found "pink""#),
            (#"{"number":1,"lines":[],"label_counts":{"x":1,"5":"y"}}"#, "label_counts.5", "expected an integer"),
            (#"{"number":1,"lines":[],"label_counts":null}"#, "label_counts", "expected an object, found null"),
            (
                #"{"number":1,"lines":[],"labels":{}}"#, "labels",
                "not a field of this object, which has: number, lines, colour, label_counts"
            ),
            (#"{"num":1,"lines":[]}"#, "num", "not a field of this object, which has: number, lines, colour, label_counts"),
            (#"{"number":1,"lines":[{"item":"a","size":2}]}"#, "lines[0].size", "not a field of this object"),
            (#"{"number":1,"number":2,"lines":[]}"#, "number", "there twice, expected at most once"),
            (#"{"number":1,"lines":[]}"#, "lines", "expected one or more"),
            (#"{"number":0,"lines":[{"item":"a"}]}"#, "", "expected an order"),
            (#"{"number":1,"lines":[{"item":"a"},{"item":"b","count":0}]}"#, "lines[1].count", "expected 1 or more"),
        ])
    func refused(json: String, field: String, problem: String) {
        let violation = #expect(throws: SchemaViolation.self) { try JSONCoder.decodeStrictly(Order.self, from: Self.order(json)) }
        #expect(violation == SchemaViolation(field: field, problem: problem))
    }

    @Test("A valid document is read in any order, spelling and spacing of its fields")
    func taken() throws {
        let json = #"""
            { "label_counts" : {"\u0061":1, "é":2} , "lines":[{"price":1e3,"item":"\ud83c\udf93","notes":[],"isGift":false,"count":2.0}],
              "numb\u0065r" : -7, "colour":"red" }
            """#
        let line = Order.Line(item: "🎓", count: 2, price: 1_000, isGift: false, notes: [])
        let expected = Order(number: -7, lines: [line], colour: .red, labels: ["a": 1, "é": 2])
        #expect(try JSONCoder.decodeStrictly(Order.self, from: Self.order(json)) == expected)
        #expect(try JSONCoder.decode(Order.self, from: Self.order(json)) == expected)
    }

    @Test(
        "A reply, an event or a stored document may have other fields, nulls, and values that break a newer rule",
        arguments: [
            #"{"number":1,"lines":[],"later":{"a":[1]}}"#, #"{"number":1,"lines":[],"colour":null,"label_counts":null}"#,
        ])
    func lenient(json: String) throws {
        #expect(try JSONCoder.decode(Order.self, from: Self.order(json)) == Order(number: 1, lines: []))
    }

    @Test("A wrong type, a missing field and a repeated field are errors there too")
    func lenientErrors() {
        for json in [#"{"number":"1","lines":[]}"#, #"{"lines":[]}"#, #"{"number":1,"number":1,"lines":[]}"#] {
            #expect(throws: SchemaViolation.self) { try JSONCoder.decode(Order.self, from: Self.order(json)) }
        }
    }

    @Test("An object of very many fields is read in a time that grows with their number")
    func manyFields() throws {
        let fields = (0..<100_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        #expect(try JSONCoder.decodeStrictly([String: Int].self, from: Data("{\(fields)}".utf8)).count == 100_000)
    }

    @Test("The text of a field is found before a document's syntax error, and not after it")
    func damaged() {
        func id(_ text: String) -> String? {
            var text = text
            return text.withUTF8 { JSONCoder.text(of: "id", inDamaged: UnsafeRawBufferPointer($0)) }
        }
        #expect(id(#"{"id":"7"}"#) == "7")
        #expect(id(#"{"a":{"id":"1"},"id":"7",}"#) == "7")
        #expect(id(#"{"\u0069d":"7","a":[[[["#) == "7")
        #expect(id(#"{"a":[1,"id","7""#) == nil)
        #expect(id(#"{"a":{"id":"7""#) == nil)
        #expect(id(#"{"a":tru,"id":"7"}"#) == nil)
        #expect(id(#"{"id":7}"#) == nil)
        #expect(id(#"{"id""#) == nil)
        #expect(id(#"["id","7"]"#) == nil)
        #expect(id("") == nil)
    }
}

import FoundationEssentials
import Testing

@testable import Base

@Suite("Trees of JSON")
struct JSONValueTests {
    @Test("The order of fields, repeated fields and the digits of numbers are kept")
    func asWritten() throws {
        let text = #"{"z":1.50,"a":[true,false,null,-0,12e+3],"":"\"\\\b\f\n\r\t\u0001é😀","n":1e999,"n":{}}"#
        let rules = JSONRules(maxDepth: 9, allowsRepeatedNames: true, allowsNumbersOfAnySize: true)
        let value = try JSONValue(parsing: text.utf8, rules: rules)
        #expect(value.members?.map(\.name) == ["z", "a", "", "n", "n"])
        #expect(value["z"] == .number("1.50"))
        #expect(value["n"] == [:])
        #expect(value.text == text)
    }

    /// If the reader searched for the path of each element, this would take hours.
    @Test("A long array in a field of any form is read at once", .timeLimit(.minutes(10)))
    func longArray() throws {
        let elements = [String](repeating: "\"\"", count: 300_000).joined(separator: ",")
        let json = Data("{\"message\":[\(elements),17,1.5,true,null,{\"a\":\"b\"}]}".utf8)
        let value = try JSONCoder.decodeStrictly([String: JSONValue].self, from: json)["message"]
        #expect(value?.elements?.suffix(6) == ["", 17, 1.5, true, .null, ["a": "b"]])
        #expect(value?.elements?.count == 300_005)
    }

    @Test("Escapes become characters")
    func escapes() throws {
        #expect(try JSONValue(parsing: #""\u00e9\ud83d\ude00\u0000\/""#.utf8) == .string("é😀\u{0}/"))
    }

    @Test("The reader follows the requested rules")
    func rules() {
        func problem(_ text: String, _ rules: JSONRules) -> JSONSyntaxError.Problem? {
            do throws(JSONSyntaxError) {
                _ = try JSONValue(parsing: text.utf8, rules: rules)
                return nil
            } catch {
                return error.problem
            }
        }
        #expect(problem(#"{"a":1,"a":2}"#, .strict) == .repeatedName(node: 3))
        #expect(problem("[1e999]", .strict) == .numberDoesNotFit)
        #expect(problem("[[0]]", JSONRules(maxDepth: 2)) == nil)
        #expect(problem("[[[]]]", JSONRules(maxDepth: 2)) == .tooDeep(2))
        #expect(problem("[1,]", .strict) == .expectedValue)
    }

    @Test("Objects are equal whatever the order of their fields")
    func equality() throws {
        let value: JSONValue = ["a": 1, "b": [true, 2.5, "c"], "d": .null]
        #expect(try JSONValue(parsing: #"{"d":null,"b":[true,2.5,"c"],"a":1}"#.utf8) == value)
        #expect(try JSONValue(parsing: #"{"d":null,"b":[2.5,true,"c"],"a":1}"#.utf8) != value)
        #expect(Set([value, value]).count == 1)
        #expect(["a": 1, "b": 2] as JSONValue != ["a": 1])
    }

    @Test(
        "Numbers are equal if they have the same value, whatever their spelling",
        arguments: [
            ["1", "1.0", "1e0", "1E+0", "10e-1", "0.01e2"], ["0", "-0", "0.000", "0e99", "-0.0E-7"],
            ["-1500", "-1.5e3", "-15E2"],
            ["9007199254740993", "9007199254740993.0", "9007199254740.993e3"], ["9007199254740992"],
            ["0.1"], ["0.10000000000000000001"], ["15"], ["1.5"], ["-1"], ["1e999"], ["1e1000", "10e999"],
            ["1e99999999999999999999"], ["1e-99999999999999999999"],
        ] as [[String]])
    func numbers(spellings: [String]) {
        let all =
            ["1", "0", "-1500", "9007199254740993", "9007199254740992", "0.1", "0.10000000000000000001", "15", "1.5", "-1"]
            + ["1e999", "1e1000", "1e99999999999999999999", "1e-99999999999999999999"]
        let values = spellings.map(JSONValue.number)
        #expect(Set(values).count == 1)
        for other in all where other != spellings[0] { #expect(!values.contains(.number(other)), "\(other)") }
    }

    @Test("Texts and names are equal if their bytes are, even if they look the same")
    func accents() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(JSONValue.string(composed) != .string(decomposed))
        let value = try JSONValue(parsing: #"{"\#(composed)":1,"\#(decomposed)":2}"#.utf8)
        #expect(value[composed] == 1 && value[decomposed] == 2)
        #expect(value == .object([.init(decomposed, 2), .init(composed, 1)]))
        #expect(value != .object([.init(composed, 1), .init(composed, 2)]))
    }

    @Test("Fields are read, replaced, added and removed by name")
    func fields() {
        var value: JSONValue = ["a": 1]
        value["b"] = "x"
        value["a"] = 2
        #expect(value == ["a": 2, "b": "x"])
        #expect(value["a"]?.integer == 2)
        value["a"] = nil
        #expect(value == ["b": "x"])
        #expect(value["c"] == nil)
        #expect(JSONValue.string("a")["a"] == nil)
    }

    @Test("A tree is a field of a type like any other; the coder sorts its fields and keeps its digits")
    func codable() throws {
        let json = #"{"value":{"b":[1,{"y":null,"x":1.50}],"a":"\u00e9","n":123456789012345678901234567890}}"#
        let read = try JSONCoder.decodeStrictly([String: JSONValue].self, from: Data(json.utf8))
        let sorted = #"{"value":{"a":"é","b":[1,{"x":1.50,"y":null}],"n":123456789012345678901234567890}}"#
        #expect(String(decoding: try JSONCoder.encode(read), as: UTF8.self) == sorted)
        let plain: [String: JSONValue] = ["v": [1, -2.5, "t", true, .null, ["k": []]]]
        #expect(try JSONDecoder().decode([String: JSONValue].self, from: JSONEncoder().encode(plain)) == plain)
    }
}

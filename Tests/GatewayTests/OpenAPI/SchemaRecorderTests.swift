import FoundationEssentials
import Base
import Schemas
import Testing

@testable import Gateway

@Suite("JSON Schema of types")
struct SchemaRecorderTests {
    private struct Order: Codable, Checked {
        struct Item: Codable, Checked {
            let name: String

            enum CodingKeys: String, CodingKey, CaseIterable {
                case name
            }

            func check() throws(SchemaViolation) { try TextLimits(max: 20).check(name, CodingKeys.name) }
        }

        let id: ObjectID
        let level: SubscriptionLevel
        let at: UnixMilliseconds
        let note: String?
        let count: Int?
        let items: [Item]
        let tags: [String]
        let byName: [String: Double]
        let parts: [Order]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case id, level, at, note, count, items, tags, parts
            case byName = "by_name"
        }

        func check() throws(SchemaViolation) {
            try TextLimits(max: 10, mayBeBlank: true).check(note, CodingKeys.note)
            try (1...5).check(count, CodingKeys.count)
            try (UnixMilliseconds(0)...maximumUnixMilliseconds).check(at, CodingKeys.at)
            try (1...3).check(items.count, CodingKeys.items)
            if Set(items.map(\.name)).count < items.count {
                throw SchemaViolation(
                    CodingKeys.items, "expected each name once", limit: FieldLimit(keywords: ["uniqueItems": true], example: 1))
            }
            for (index, tag) in tags.enumerated() {
                if let problem = TextLimits.name.problem(with: tag) {
                    throw SchemaViolation(field: "tags[\(index)]", problem: problem, limit: TextLimits.name.limit)
                }
            }
        }
    }

    @Test("Fields, their types and whether they are required come from the type; limits come from its check")
    func order() throws {
        let recorder = SchemaRecorder(.request)
        #expect(try recorder.schema(of: Order.self) == ["$ref": "#/components/schemas/request:SchemaRecorderTestsOrder"])
        #expect(recorder.unstatedRules == [])
        let order = try #require(recorder.components["SchemaRecorderTestsOrder"])
        #expect(order["additionalProperties"] == false)
        #expect(order["required"] == ["id", "level", "at", "items", "tags", "by_name"])
        func property(_ name: String) -> JSONValue? { order["properties"]?[name] }
        #expect(property("id") == ["$ref": "#/components/schemas/request:ObjectID"])
        #expect(property("at")?["minimum"] == 0 && property("at")?["maximum"] == 253_402_300_799_999)
        #expect(property("count") == ["type": "integer", "minimum": 1, "maximum": 5])
        #expect(property("note") == ["type": "string", "minLength": 0, "maxLength": 10, "pattern": #"^[^\x00]*$"#])
        #expect(
            property("items") == [
                "type": "array", "minItems": 1, "maxItems": 3, "uniqueItems": true,
                "items": ["$ref": "#/components/schemas/request:SchemaRecorderTestsOrderItem"],
            ])
        #expect(property("tags")?["items"]?["maxLength"] == 200)
        #expect(property("by_name") == ["type": "object", "additionalProperties": ["type": "number"]])
        #expect(property("parts")?["items"] == ["$ref": "#/components/schemas/request:SchemaRecorderTestsOrder"])
        #expect(recorder.components["SubscriptionLevel"] == ["type": "string", "enum": ["Forced", "Recommended", ""]])
        #expect(recorder.components["ObjectID"]?["pattern"] == "^[0-9A-Fa-f]{24}$")
        #expect(recorder.components["SchemaRecorderTestsOrderItem"]?["properties"]?["name"]?["maxLength"] == 20)
    }

    @Test("The schema of an answer has no limits, and leaves room for new fields")
    func answer() throws {
        let recorder = SchemaRecorder(.answer)
        _ = try recorder.schema(of: Order.self)
        let order = try #require(recorder.components["SchemaRecorderTestsOrder"])
        #expect(order["additionalProperties"] == nil)
        #expect(order["properties"]?["count"] == ["type": "integer"])
    }

    private struct Choice: Codable, Checked {
        let text: String?
        let template: ObjectID?
        let values: [Int]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case text, template, values
        }

        func check() throws(SchemaViolation) {
            if template != nil {
                if text != nil { throw SchemaViolation(CodingKeys.text, "not beside a template") }
            } else {
                if text == nil { throw SchemaViolation(CodingKeys.text, "missing") }
                if values != nil { throw SchemaViolation(CodingKeys.values, "expected only with a template") }
            }
            try TextLimits.title.check(text, CodingKeys.text)
            if let values { try (0...9).check(values.count, CodingKeys.values) }
        }
    }

    @Test("Limits of fields that exclude each other are found as well, and the rules that JSON Schema cannot state are listed")
    func choice() throws {
        let recorder = SchemaRecorder(.request)
        _ = try recorder.schema(of: Choice.self)
        let properties = try #require(recorder.components["SchemaRecorderTestsChoice"]?["properties"])
        #expect(properties["text"]?["maxLength"] == 500)
        #expect(properties["values"]?["maxItems"] == 9)
        #expect(recorder.unstatedRules.contains("SchemaRecorderTestsChoice.text: not beside a template"))
    }

    private struct Odd: Codable, Checked {
        let name: String

        enum CodingKeys: String, CodingKey, CaseIterable {
            case name
        }

        func check() throws(SchemaViolation) { throw SchemaViolation(CodingKeys.name, "never valid") }
    }

    @Test("A type that no value satisfies is an error that names the rule")
    func odd() {
        let error = #expect(throws: UnrecordableType.self) { try SchemaRecorder(.request).schema(of: Odd.self) }
        #expect(error?.description.contains("name: never valid") == true)
    }

    @Test("Examples of limits are within them")
    func patterns() throws {
        for (pattern, example) in [
            (ObjectID.pattern, ObjectID.example), (TopicKey.pattern, TopicKey.example), (PageCursor.pattern, PageCursor.example),
        ] {
            #expect(try Regex(pattern).wholeMatch(in: example) != nil, "\(pattern): \(example)")
        }
        let label = TextLimits(max: 50, lettersDigitsAnd: "-_.~%")
        let pattern = try #require(label.limit.keywords["pattern"]?.string)
        for code in UInt8(1)..<128 {
            let text = String(UnicodeScalar(code))
            #expect(try (label.problem(with: text) == nil) == (Regex(pattern).wholeMatch(in: text) != nil), "\(code)")
        }
    }
}

import FoundationEssentials
import Schemas
import Testing

@testable import Store

@Suite("BSON coder")
struct BSONCoderTests {
    private struct Everything: Codable, Equatable {
        var id = ObjectID()
        var topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        var text = "a \"q\"\u{0}\n🎓 مكتبة"
        var yes = true
        var whole = Int.min
        var small: Int32 = -7
        var byte: UInt8 = 255
        var real = 0.1
        var half: Float = 0.5
        var date = Date(timeIntervalSince1970: 1_700_000_000.123)
        var data = Data([0, 1, 2])
        var absent: String?
        var optionals: [Int?] = [1, nil]
        var ids = [ObjectID(), ObjectID()]
        var byName = ["a.b": [ObjectID()], "": []]
        var inner = Inner(values: [[1], []])
        var choice = Choice.two(number: 2)

        struct Inner: Codable, Equatable {
            var values: [[Int64]]
        }

        enum Choice: Codable, Equatable {
            case one
            case two(number: Int)
        }
    }

    @Test("A Codable value is read back equal, directly and through Extended JSON")
    func roundTrip() throws {
        let value = Everything()
        let document = try BSONCoder.encode(value)
        #expect(try BSONCoder.decode(Everything.self, from: document) == value)
        let text = try document.extendedJSON
        #expect(try BSONCoder.decode(Everything.self, from: BSONDocument(extendedJSON: text)) == value)
        #expect(text.contains("\"\(value.id)\"") && text.contains("\"$oid\""))
        let fields = try BSONFields(document)
        #expect(try fields["id"] == .objectID(value.id) && fields["whole"] == .int64(.min) && fields["small"] == .int32(-7))
        #expect(try fields["date"]?.type == .date && fields["data"]?.type == .binary && fields["absent"] == nil)
        #expect(try fields["topic"] == .string("\(value.topic)"))
    }

    private struct Strict: Codable {
        var list: [Item]

        struct Item: Codable {
            var id: ObjectID
            var count: UInt8
        }
    }

    @Test("An error names the field, the expected value and the value found")
    func errors() throws {
        func problem(_ document: BSONDocument) -> String? {
            do {
                _ = try BSONCoder.decode(Strict.self, from: document)
                return nil
            } catch {
                return "\(error)"
            }
        }
        let id = BSONValue.objectID(ObjectID())
        #expect(problem([:]) == "field list: expected a value, found nothing")
        #expect(problem(["list": "x"]) == "field list: expected an array, found string")
        #expect(problem(["list": [["id": id]]]) == "field list.0.count: expected a value, found nothing")
        #expect(problem(["list": [["id": "5a", "count": 1]]]) == "field list.0.id: expected an ObjectId, found string")
        #expect(
            problem(["list": [["id": id, "count": 256]]])
                == "field list.0.count: expected a whole number from 0 to 255, found int32")
        #expect(problem(["list": [["id": id, "count": .double(7), "unknown": nil]]]) == nil)
        #expect(problem(["list": [["id": id, "count": .double(7.5)]]]) != nil)
    }

    @Test("A document that MongoDB would refuse or misread is not written")
    func refusals() {
        final class Chain: Encodable {
            let next: Chain?
            init(_ depth: Int) { next = depth > 0 ? Chain(depth - 1) : nil }
        }
        #expect(throws: BSONError.self) { try BSONCoder.encode(["$oid": "x"]) }
        #expect(throws: BSONError.self) { try BSONCoder.encode(["a": ["$where": "x"]]) }
        #expect(throws: BSONError.self) { try BSONCoder.encode(["a.b": 1]) }
        #expect(throws: BSONError.self) { try BSONCoder.encode(["a\u{0}": 1]) }
        #expect(throws: BSONError.self) { try BSONCoder.encode(["a": UInt64.max]) }
        #expect(throws: BSONError.self) { try BSONCoder.encode([1]) }
        #expect(throws: BSONError.self) { try BSONCoder.encode(Chain(100)) }
        #expect(throws: Never.self) { try BSONDocument(extendedJSON: BSONCoder.encode(Chain(79)).extendedJSON) }
    }

    @Test("Values of other programs' types are written as they were read")
    func foreignValues() throws {
        let text = """
            {"a": {"$numberDecimal": "1.5"}, "b": {"$timestamp": {"t": 1, "i": 2}}, "c": {"$regularExpression": \
            {"pattern": "x", "options": "i"}}, "d": {"$minKey": 1}, "e": {"$date": "2026-01-02T03:04:05.006Z"}}
            """
        let document = try BSONDocument(extendedJSON: text)
        #expect(try BSONDocument(BSONFields(document).all.map { ($0.key, $0.value) }) == document)
        for text in ["", "{", "[1", "{\"a\": {\"$oid\": \"x\"}}", "7"] {
            #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: text) }
        }
    }
}

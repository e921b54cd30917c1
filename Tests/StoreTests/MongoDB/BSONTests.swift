import Schemas
import Testing

@testable import Store

@Suite("BSON")
struct BSONTests {
    private static let id = ObjectID()

    private static let everything: BSONDocument = [
        "id": .objectID(id), "text": "a \"q\"\u{0}\n🎓 مكتبة", "empty": "", "small": .int32(-1), "large": .int64(.min),
        "real": .double(-0.5), "yes": true, "no": false, "nothing": nil,
        "list": [1, "two", ["three": [3]], []], "inside": ["deeper": ["deepest": .objectID(id)]], "none": [:],
    ]

    @Test("Every type that the product stores is read back as it was written")
    func roundTrip() throws {
        let fields = try BSONFields(Self.everything)
        #expect(try fields.value("id") == Self.id)
        #expect(try fields.value("text") == "a \"q\"\u{0}\n🎓 مكتبة")
        #expect(try fields.value("empty") == "")
        #expect(try fields.value("small", as: Int32.self) == -1)
        #expect(try fields.value("large") == Int64.min)
        #expect(try fields["real"] == .double(-0.5))
        #expect(try fields.value("yes") == true)
        #expect(try fields.value("no") == false)
        #expect(try fields["nothing"] == .null)
        #expect(try fields["list"] == [1, "two", ["three": [3]], []])
        #expect(try fields.fields("inside").fields("deeper").value("deepest") == Self.id)
        #expect(try fields.value("none", as: BSONDocument.self).isEmpty)
        #expect(try fields["absent"] == nil)
    }

    @Test("The bytes are those of the BSON specification")
    func bytes() {
        let hello: BSONDocument = ["hello": "world"]
        #expect(
            Array(hello.bytes) == [0x16, 0, 0, 0, 0x02] + Array("hello\u{0}".utf8) + [6, 0, 0, 0] + Array("world\u{0}".utf8) + [0]
        )
        let list: BSONDocument = ["BSON": [1986]]
        #expect(
            Array(list.bytes) == [0x17, 0, 0, 0, 0x04] + Array("BSON\u{0}".utf8) + [12, 0, 0, 0, 0x10]
                + Array("0\u{0}".utf8) + [0xC2, 7, 0, 0, 0, 0])
        #expect(BSONDocument([]).isEmpty)
        #expect(hello.with("again", 1) == ["hello": "world", "again": 1])
    }

    @Test("A whole number is read from any numeric type, and a fraction is refused")
    func numbers() throws {
        let fields = try BSONFields(["a": .int32(7), "b": .int64(7), "c": .double(7), "d": .double(7.5), "e": .int64(1 << 40)])
        for key in ["a", "b", "c"] {
            #expect(try fields.value(key, as: Int64.self) == 7)
            #expect(try fields.value(key, as: Int32.self) == 7)
        }
        #expect(throws: BSONError.self) { try fields.value("d", as: Int64.self) }
        #expect(throws: BSONError.self) { try fields.value("e", as: Int32.self) }
    }

    @Test("A missing field, or one of another type, is an error that says where it is and what is expected")
    func wrongFields() throws {
        let fields = try BSONFields(["relay": ["list": [["state": 5]], "key": "5a", "level": "Sometimes"]])
        func message(_ body: () throws -> Void) -> String? {
            do {
                try body()
                return nil
            } catch {
                return "\(error)"
            }
        }
        let relay = try fields.fields("relay")
        #expect(
            message { _ = try relay.list("list")[0].value("state", as: String.self) }
                == "field relay.list.0.state: expected a string, found int32")
        #expect(message { _ = try relay.value("gone", as: Bool.self) } == "field relay.gone: expected a boolean, found nothing")
        #expect(
            message { _ = try relay.value("key", as: TopicKey.self) }?.hasPrefix("field relay.key: expected a topic key") == true)
        #expect(try relay.optional("gone", as: String.self) == nil)
        #expect(try fields.optionalFields("gone") == nil)
    }

    @Test("Damaged documents are an error, and are never read beyond their end")
    func malformed() throws {
        let bytes = Array(Self.everything.bytes)
        for count in 0..<bytes.count {
            #expect(throws: BSONError.self) { try readAll(BSONDocument(unchecked: bytes.prefix(count))) }
        }
        var read = 0
        for index in bytes.indices {
            for value: UInt8 in [0x00, 0x01, 0x7F, 0xFF] {
                var changed = bytes
                changed[index] = value
                // Most changes make the document invalid, and some only change a value. The reader must end in any case.
                if (try? readAll(BSONDocument(unchecked: changed[...]))) != nil { read += 1 }
            }
        }
        #expect(read < 4 * bytes.count)
    }

    @Test("A fingerprint tells documents apart, and does not depend on the order of fields or the width of whole numbers")
    func fingerprint() throws {
        let document: BSONDocument = ["a": 1, "b": ["x": "one", "y": ["p", "q"]]]
        #expect(try document.fingerprint == (["b": ["y": ["p", "q"], "x": "one"], "a": .int64(1)] as BSONDocument).fingerprint)
        let others: [BSONDocument] = [
            ["a": 2, "b": ["x": "one", "y": ["p", "q"]]], ["a": .double(1), "b": ["x": "one", "y": ["p", "q"]]],
            ["a": 1, "b": ["x": "one", "y": ["q", "p"]]], ["a": 1, "b": ["y": "one", "x": ["p", "q"]]],
            ["a": 1, "b": ["x": "one", "y": ["p", "q"]], "c": nil], ["a": 1, "x": "one", "b": ["y": ["p", "q"]]],
        ]
        for other in others { #expect(try document.fingerprint != other.fingerprint) }
        // Two documents that exchange a value have another sum.
        func sum(_ one: BSONValue, _ other: BSONValue) throws -> UInt64 {
            let documents: [BSONDocument] = [["_id": 1, "place": one], ["_id": 2, "place": other]]
            return try documents.reduce(0) { try $0 &+ $1.fingerprint }
        }
        for number: Int32 in 0..<50 {
            #expect(try sum(.int32(number), .int32(number + 1)) != sum(.int32(number + 1), .int32(number)))
        }
        #expect(try sum("a", "c") != sum("c", "a"))
    }

    private func readAll(_ document: BSONDocument) throws {
        var scanner = try BSONScanner(document)
        while let element = try scanner.next() {
            switch try scanner.value(of: element) {
            case .document(let inner): try readAll(inner)
            default: break
            }
        }
    }
}

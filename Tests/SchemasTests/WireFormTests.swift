import FoundationEssentials
import JSON
import Schemas
import Testing

/// The JSON of types that leave fields out, or that are written as one string or as another type's fields.
@Suite("Wire forms")
struct WireFormTests {
    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONCoder.encode(value), as: UTF8.self)
    }

    private static func check<Value: Codable & Equatable>(_ value: Value, _ expected: String) throws {
        #expect(try json(value) == expected)
        #expect(try JSONCoder.decode(Value.self, from: Data(expected.utf8)) == value)
    }

    @Test("The report of a service leaves out what it has not")
    func health() throws {
        try Self.check(ServiceHealth(), "{}")
        try Self.check(
            ServiceHealth(version: "1.2.0", parts: ["fcm": PartHealth(.unavailable, "gone"), "db": .ok]),
            #"{"parts":{"db":{"status":"ok"},"fcm":{"message":"gone","status":"unavailable"}},"version":"1.2.0"}"#)
        try Self.check(
            PartHealth(.ok, version: "1", parts: ["a": .ok]), #"{"parts":{"a":{"status":"ok"}},"status":"ok","version":"1"}"#)
    }

    @Test("A page of messages may be asked for without a filter")
    func list() throws {
        #expect(try Self.json(ListMessages(limit: 5)) == #"{"filter":{},"limit":5}"#)
        let read = try JSONCoder.decodeStrictly(ListMessages.self, from: Data(#"{"limit":5}"#.utf8))
        #expect(read.limit == 5 && read.filter == MessageFilter() && read.before == nil)
        let wrong = #"{"limit":5,"filter":{"colour":"red"}}"#
        #expect(violation(of: ListMessages.self, in: wrong)?.field == "filter.colour")
    }

    @Test("Statistics may be asked for without any field")
    func statistics() throws {
        let read = try JSONCoder.decodeStrictly(CountMessages.self, from: Data("{}".utf8))
        #expect(read.edges.isEmpty && read.by == .timestamp && read.topics == nil && read.filter == MessageFilter())
        #expect(try Self.json(CountMessages(edges: [1, 2], by: .ended)) == #"{"by":"ended","edges":[1,2]}"#)
        var statistics = MessageStatistics(edges: [1, 2])
        statistics.states[.failed] = 1
        let none = #""held":0,"pending":0,"recalled":0,"relayed":0,"retrying":0"#
        #expect(
            try Self.json(statistics)
                == #"{"buckets":[{"from":1,"states":{"expired":0,"failed":0,\#(none)},"to":2}],"scheduled":0,"#
                + #""states":{"expired":0,"failed":1,\#(none)}}"#)
    }

    @Test("The commands about topics have the fields of the phones that they are for")
    func topics() throws {
        let phones = TopicPhones(topicKey: try #require(TopicKey(DraftTests.topicKey)), tokens: ["a"], project: "p")
        let json = #"{"project":"p","tokens":["a"],"topic_key":"\#(DraftTests.topicKey)"}"#
        try Self.check(SubscribePhones(phones), json)
        try Self.check(UnsubscribePhones(phones), json)
        let none = #"{"tokens":[],"topic_key":"\#(DraftTests.topicKey)"}"#
        #expect(violation(of: SubscribePhones.self, in: none)?.field == "tokens")
    }

    @Test("An outcome has FCM's name or an error")
    func outcomes() throws {
        try Self.check(ComponentOutcome(component: .data, result: .success("n")), #"{"component":"data","name":"n"}"#)
        let refused = ComponentOutcome(component: .data, result: .failure(DeliveryError(.unregistered)))
        #expect(try Self.json(refused).hasPrefix(#"{"component":"data","error":{"class":"permanent","code":"UNREGISTERED""#))
        #expect(try JSONCoder.decode(ComponentOutcome.self, from: JSONCoder.encode(refused)) == refused)
        #expect(violation(of: ComponentOutcome.self, in: #"{"component":"data"}"#) != nil)
    }

    @Test("A type that is written as one string names the valid ones in its error")
    func strings() throws {
        func problem<Value: Decodable>(_ type: Value.Type) -> String? {
            violation(of: [Value].self, in: #"["x y"]"#)?.description
        }
        #expect(problem(ObjectID.self) == "[0]: expected 24 hexadecimal digits (an ObjectId)")
        #expect(problem(TopicKey.self) == "[0]: expected a topic key: three ObjectIds joined by \"-\"")
        #expect(problem(PageCursor.self) == "[0]: expected the \"next\" of another page")
        let id = ObjectID()
        try Self.check([id], "[\"\(id)\"]")
        try Self.check([try #require(SearchQuery("two  Words*"))], #"["two  Words*"]"#)
        try Self.check(CubeSnapshot(version: 17, channels: []), #"{"channels":[],"version":17}"#)
    }
}

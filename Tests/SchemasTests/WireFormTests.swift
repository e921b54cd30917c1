import FoundationEssentials
import Base
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

    @Test("The event of the cube has the edit, and an edit that this version does not know hides no version")
    func cubeChanged() throws {
        let (channel, subject) = (ObjectID(), ObjectID())
        let move = MoveSubject(
            channelID: channel, areaID: channel, subjectID: subject, to: SubjectPlace(channel: channel, area: subject))
        let event = CubeChanged(version: 7, edit: AppliedCubeEdit(move, newID: nil), digest: .empty)
        let payload =
            #"{"areaID":"\#(channel)","channelID":"\#(channel)","subjectID":"\#(subject)","to":{"area":"\#(subject)","channel":"\#(channel)"}}"#
        let json = #"{"digest":"0","edit":{"command":"subject.move","payload":\#(payload)},"version":7}"#
        #expect(try Self.json(event) == json)
        #expect(try Self.json(JSONCoder.decode(CubeChanged.self, from: Data(json.utf8))) == json)
        #expect(try Self.json(CubeChanged(version: 7)) == #"{"version":7}"#)
        let later = try JSONCoder.decode(
            CubeChanged.self, from: Data(json.replacing("subject.move", with: "subject.split").utf8))
        #expect(later.version == 7 && later.edit == nil)
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

    @Test("A service's report of itself is bounded, and one of another version does not hide the rest of its health")
    func report() throws {
        let long = String(repeating: "x\n", count: 1_000)
        let many = (0..<1_000).map { "MSI_NAME_\($0)\(long)" }
        let report = ServiceReport(
            process: 7, settings: SettingsStatus(read: 5, needingRestart: ["MSI_A"], mistake: long), overridden: ["MSI_B"],
            warnings: many, lastError: .init(time: 6, message: long))
        #expect(try JSONCoder.encode(ServiceHealth(version: "1.0.0", report: report)).count < 10_240)
        let health = try JSONCoder.decode(
            ServiceHealth.self,
            from: Data(
                #"""
                {"version":"1.1.0","colour":"red","report":{"process":7,"settings":{"read":5,"needs_restart":["MSI_A"],"more":1},
                 "overridden":[],"warnings":[],"more":{}}}
                """#.utf8))
        #expect(health.report?.settings == SettingsStatus(read: 5, needingRestart: ["MSI_A"]))
        for report in ["7", "{}", #"{"process":"x","settings":[]}"#, "null"] {
            let other = #"{"version":"1.1.0","parts":{"db":{"status":"ok"}},"report":\#(report)}"#
            #expect(
                try JSONCoder.decode(ServiceHealth.self, from: Data(other.utf8))
                    == ServiceHealth(version: "1.1.0", parts: ["db": .ok]))
        }
        // The gateway shows everyone the state of a service.
        #expect(PartHealth(ServiceHealth(version: "1.0.0", report: report)) == PartHealth(.ok, version: "1.0.0"))
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

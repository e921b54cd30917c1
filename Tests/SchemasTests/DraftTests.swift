import FoundationEssentials
import Base
import Schemas
import Testing

/// A portal's documents, and the errors for invalid ones.
@Suite("Drafts")
struct DraftTests {
    static let topicKey = "5a0b0c0d5a0b0c0d5a0b0c0d-5a0b0c0d5a0b0c0d5a0b0c0e-5a0b0c0d5a0b0c0d5a0b0c0f"

    static func message(
        title: String = "Storm", desc: String = "Stay home", message: String = "The campus is closed.",
        distribution: String = "Alert"
    ) throws -> Data {
        try JSONCoder.encode([
            "title": title, "desc": desc, "message": message, "topic_key": topicKey, "distribution": distribution,
        ])
    }

    @Test("A message with every field is read")
    func message() throws {
        let draft = try JSONCoder.decodeStrictly(MessageContent.self, from: Self.message())
        #expect(draft.title == "Storm")
        #expect(draft.desc == "Stay home")
        #expect(draft.message == "The campus is closed.")
        #expect(draft.topicKey.description == Self.topicKey)
        #expect(draft.distribution == .alert)
    }

    @Test(
        "A wrong message is refused with the name of the field",
        arguments: [
            (#"{}"#, "title", "missing"),
            (#"{"title":"T","desc":"","message":"M","topic_key":"KEY"}"#, "distribution", "missing"),
            (#"{"title":7,"desc":"","message":"M","topic_key":"KEY","distribution":"Information"}"#, "title", "a string"),
            (#"{"title":null,"desc":"","message":"M","topic_key":"KEY","distribution":"Information"}"#, "title", "null"),
            (#"{"title":" ","desc":"","message":"M","topic_key":"KEY","distribution":"Information"}"#, "title", "not empty"),
            (#"{"title":"T","desc":"","message":"","topic_key":"KEY","distribution":"Information"}"#, "message", "not empty"),
            (#"{"title":"T","desc":"","message":"M","topic_key":"KEY","distribution":"Alert"}"#, "desc", "push notification"),
            (#"{"title":"T","desc":"","message":"M","topic_key":"x","distribution":"Information"}"#, "topic_key", "topic key"),
            (
                #"{"title":"T","desc":"","message":"M","topic_key":"KEY","distribution":"alert"}"#, "distribution",
                #"one of "Alert", "Information", found "alert""#
            ),
            (#"{"title":"T","desc":"","message":"M","topic_key":"KEY","distribution":"Information","x":1}"#, "x", "not a field"),
            (#"{"title":"T\u0000","desc":"","message":"M","topic_key":"KEY","distribution":"Information"}"#, "title", "U+0000"),
            (#"[]"#, "", "an object"),
            (#""text""#, "", "an object"),
            (#"{"title":"T""#, "", "not valid JSON"),
        ])
    func wrongMessage(json: String, field: String, problem: String) throws {
        let text = json.split(separator: "KEY", omittingEmptySubsequences: false).joined(separator: Self.topicKey)
        let found = try #require(violation(of: MessageContent.self, in: text))
        #expect(found.field == field)
        #expect(found.problem.contains(problem), "\(found)")
    }

    @Test("The seed's lengths are counted in characters, not bytes", arguments: ["a", "é", "ق", "😀"])
    func lengths(character: String) throws {
        func text(_ count: Int) -> String { String(repeating: character, count: count) }

        let longest = try Self.message(title: text(500), desc: text(500), message: text(1_500))
        #expect(throws: Never.self) { try JSONCoder.decodeStrictly(MessageContent.self, from: longest) }
        #expect(violation(of: MessageContent.self, in: try Self.message(title: text(501)))?.field == "title")
        #expect(violation(of: MessageContent.self, in: try Self.message(desc: text(501)))?.field == "desc")
        let tooLong = try #require(violation(of: MessageContent.self, in: try Self.message(message: text(1_501))))
        #expect(tooLong.description == "message: expected at most 1500 characters, found 1501")
    }

    @Test("Invalid UTF-8 and endless nesting are not valid JSON")
    func notJSON() throws {
        let noText = Data([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])
        #expect(violation(of: MessageContent.self, in: noText)?.problem == "not valid JSON: it is not UTF-8")
        let deep = Data(repeating: UInt8(ascii: "["), count: 100_000)
        let tooDeep = violation(of: MessageContent.self, in: deep)
        #expect(tooDeep?.problem == "not valid JSON: expected at most 512 levels at byte 512")
    }

    @Test(
        "A wrong subject is refused with the path of the field",
        arguments: [
            (#"{"name":"N","desc":""}"#, "opt"),
            (#"{"name":"N","desc":"","opt":{}}"#, "opt.level"),
            (#"{"name":"N","desc":"","opt":{"level":"Forced","distribution":null}}"#, "opt.distribution"),
            (#"{"name":"N","desc":"","opt":{"level":"Urgent","distribution":"Alert"}}"#, "opt.level"),
            (#"{"name":"N","desc":"","opt":{"level":"","distribution":"Alert","tags":[]}}"#, "opt.tags"),
            (#"{"name":"N","opt":{"level":"","distribution":"Alert"}}"#, "desc"),
            (#"{"name":"","desc":"","opt":{"level":"","distribution":"Alert"}}"#, "name"),
        ])
    func wrongSubject(json: String, field: String) throws {
        #expect(violation(of: SubjectDraft.self, in: json)?.field == field)
    }

    @Test("The three levels of the seed are read", arguments: SubscriptionLevel.allCases)
    func levels(level: SubscriptionLevel) throws {
        let json = #"{"name":"N","desc":"","opt":{"level":"\#(level.rawValue)","distribution":"Alert"}}"#
        #expect(try JSONCoder.decodeStrictly(SubjectDraft.self, from: Data(json.utf8)).opt.level == level)
        #expect(["Forced", "Recommended", ""].contains(level.rawValue))
    }

    @Test("Commands refuse unknown fields")
    func strictCommands() {
        let id = ObjectID()
        let extra = #"{"channelID":"\#(id)","area":{"name":"N","desc":""},"colour":"red"}"#
        #expect(violation(of: AddArea.self, in: extra)?.field == "colour")
        let nested = #"{"channelID":"\#(id)","area":{"name":"N","desc":"","colour":"red"}}"#
        #expect(violation(of: AddArea.self, in: nested)?.field == "area.colour")
        #expect(violation(of: ListMessages.self, in: #"{"limit":0}"#)?.field == "limit")
        #expect(violation(of: ListMessages.self, in: #"{"limit":1e400}"#) != nil)
        #expect(violation(of: Ping.self, in: #"{"x":1}"#)?.field == "x")
    }
}

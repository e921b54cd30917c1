import FoundationEssentials
import Base
import Schemas
import Testing

/// Templates, their blanks, and the posts that use them.
@Suite("Templates")
struct TemplateTests {
    @Test(
        "A blank is a name in two braces, and anything else is text",
        arguments: [
            ("Room {{room}}", ["room"]), ("{{a}}{{b-1}} {{ a }}", ["a", "b-1", "a"]), ("{{{a}}}", ["a"]),
            ("{{}} {{ }} {{a b}}", []),
            ("{a} {{a} {{é}} {{a\u{301}}}", []), ("}}{{x_2}}{{", ["x_2"]), ("", []),
            ("{{\(String(repeating: "a", count: 41))}}", []),
        ])
    func blanks(text: String, names: [String]) {
        #expect(TemplateText(text).blanks == names)
    }

    private static func template(_ title: String, _ desc: String = "", _ message: String = "m") -> MessageTemplate {
        MessageTemplate(
            id: ObjectID(), in: (), draft: MessageTemplate.Draft(name: "n", title: title, desc: desc, message: message))
    }

    @Test("A template is filled with a value for each of its blanks")
    func fill() throws {
        let template = Self.template("Moved to {{room}}", "{{ room }}, {{when}}", "Not {room}: {{room}}{{room}}")
        let texts = try template.filled(with: ["room": "B {12}", "when": "today"])
        #expect(texts == MessageTexts(title: "Moved to B {12}", desc: "B {12}, today", message: "Not {room}: B {12}B {12}"))
        for (values, field) in [
            (["room": "B"], "values.when"), (["room": "B", "when": "t", "who": "x"], "values.who"), ([:], "values.room"),
        ] {
            #expect(violation { try template.filled(with: values) }?.field == field)
        }
        let none = violation { try Self.template("t").filled(with: ["a": "b"]) }
        #expect(none?.description == "values.a: not a blank of the template, which has none")
    }

    @Test(
        "A template with a misspelt blank, a long text or an empty name is refused",
        arguments: [
            (#"{"name":"n","title":"{{the room}}","desc":"","message":"m"}"#, "title"),
            (#"{"name":"n","title":"t","desc":"{{room","message":"m"}"#, "desc"),
            (#"{"name":"n","title":"t","desc":"d","message":"{{room}} {{}}"}"#, "message"),
            (#"{"name":" ","title":"t","desc":"d","message":"m"}"#, "name"),
            (#"{"name":"n","title":"t","desc":"d","message":""}"#, "message"),
            (#"{"name":"n","title":"t","desc":"d","message":"m","urgent":1}"#, "urgent"),
            (#"{"name":"n","title":"t","message":"m"}"#, "desc"),
            (#"{"name":"n","title":"t","desc":"d","message":"m","topic_key":"x"}"#, "topic_key"),
        ])
    func wrongTemplate(json: String, field: String) {
        #expect(violation(of: MessageTemplate.Draft.self, in: json)?.field == field)
    }

    private static func post(_ fields: String) throws -> MessagePost {
        let json = #"{"topic_key":"\#(DraftTests.topicKey)","distribution":"Alert",\#(fields)}"#
        return try JSONCoder.decodeStrictly(MessagePost.self, from: Data(json.utf8))
    }

    private static let texts = #""title":"t","desc":"d","message":"m""#
    private static let id = "5a0b0c0d5a0b0c0d5a0b0c0d"

    @Test(
        "A post has its texts or a template, and an error names the field",
        arguments: [
            (#""title":"t","desc":"d""#, "message"), (#""desc":"d","message":"m""#, "title"),
            (texts + #","template":"\#(id)""#, "title"), (texts + #","values":{}"#, "values"),
            (#""template":"\#(id)","values":{"room":" "}"#, "values.room"),
            (#""template":"\#(id)","values":{"a b":"c"}"#, "values"),
            (#""template":"\#(id)","values":{"room":7}"#, "values.room"),
            (#""template":"\#(id)","values":{"room":"{{x}}"}"#, "values.room"), (#""template":"x""#, "template"),
            (#""title":"t","desc":"d","message":"In {{room}}""#, "message"), (texts + #","delay":3601"#, "delay"),
            (texts + #","delay":-1"#, "delay"), (texts + #","delay":"5""#, "delay"),
            (texts + #","delay":5,"send_at":1795262462399"#, "delay"),
            (texts + #","drill":"yes""#, "drill"), (texts + #","follows":"x""#, "follows"),
            (#""desc":"d","message":"m","drill":true,"title":"\#(String(repeating: "é", count: 493))""#, "title"),
        ])
    func wrongPost(fields: String, field: String) {
        #expect(violation { try Self.post(fields) }?.field == field)
    }

    @Test("The error for an unknown field of a post names those that it has")
    func unknownField() {
        let found = violation { try Self.post(Self.texts + #","titel":"t""#) }
        let fields =
            "title, desc, message, distribution, ttl, options, delay, drill, follows, correction, template, values, "
            + "topic_key, send_at, template_revision"
        #expect(found?.field == "titel" && found?.problem == "not a field of this object, which has: \(fields)")
    }

    @Test("A message that a template makes too long, or without the text of an Alert, is refused")
    func badResult() throws {
        let post = try Self.post(#""template":"\#(Self.id)","values":{"a":"\#(String(repeating: "x", count: 500))"}"#)
        #expect(violation { try post.content(from: Self.template("-{{a}}", "d")) }?.field == "title")
        #expect(violation { try post.content(from: Self.template("t", "", "{{a}}")) }?.field == "desc")
        #expect(try post.content(from: Self.template("{{a}}", "d")).title.count == 500)
    }

    @Test("A repeated post is recognised by all of its fields, and that of a template also after the template has changed")
    func repetition() throws {
        let plain = try Self.post(Self.texts)
        let stored = plain.content.marked
        #expect(plain.isSource(of: stored))
        for further in [
            #","drill":true"#, #","delay":0"#, #","follows":"\#(Self.id)""#, #","send_at":1795262462399"#, #","ttl":5"#,
        ] {
            let other = try Self.post(Self.texts + further)
            #expect(!other.isSource(of: stored), "\(further)")
            let marked = other.content.marked
            #expect(other.isSource(of: marked) && !plain.isSource(of: marked), "\(further)")
        }
        // Not a drill, said or unsaid.
        #expect(try Self.post(Self.texts + #","drill":false"#).isSource(of: stored))

        let filled = try Self.post(#""template":"\#(Self.id)","values":{"a":"1"},"drill":true"#)
        let made = try filled.content(from: Self.template("T{{a}}", "d")).marked
        #expect(made.title == "[DRILL] T1" && filled.isSource(of: made))
        for fields in [
            #""template":"\#(Self.id)","values":{"a":"2"},"drill":true"#, #""template":"\#(Self.id)","values":{"a":"1"}"#,
            #""template":"\#(ObjectID())","values":{"a":"1"},"drill":true"#,
        ] {
            #expect(try !Self.post(fields).isSource(of: made), "\(fields)")
        }
    }

    @Test("The mark of a drill counts in the length of the title")
    func drill() throws {
        let title = String(repeating: "é", count: 492)
        let post = try Self.post(#""desc":"d","message":"m","drill":true,"title":"\#(title)""#)
        #expect(post.content.marked.title == "[DRILL] " + title)
    }
}

import Schemas
import Testing
import Base

@testable import Gateway

@Suite("Subjects by their names")
struct SubjectNamesTests {
    private static func subject(_ name: String, _ distribution: Distribution = .alert) -> Subject {
        Subject(
            id: ObjectID(), name: name, desc: "", topicKey: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()),
            opt: SubjectOptions(level: .optional, distribution: distribution))
    }

    private static func channel(_ name: String, _ area: String, _ subjects: String...) -> Channel {
        Channel(
            id: ObjectID(), name: name, desc: "",
            areas: [Area(id: ObjectID(), name: area, desc: "", subjects: subjects.map { subject($0) })])
    }

    private let channels = [
        channel("Campus", "Weather", "Storms", "Heat", "STORMS"), channel("campus", "Weather", "Ice", "Snow"),
        channel("Library", "Hours", "Opening", "Opening"), channel("مكتبة", "a/b", "Größe 100 %"),
    ]

    private func find(_ channel: String, _ area: String, _ subject: String) throws -> String {
        let found = try SubjectNames(channel: channel, area: area, subject: subject).find(in: channels)
        return "\(found.names.channel)/\(found.names.area)/\(found.names.subject)"
    }

    private func refusal(_ channel: String, _ area: String, _ subject: String) -> Problem? {
        do {
            _ = try SubjectNames(channel: channel, area: area, subject: subject).find(in: channels)
            return nil
        } catch {
            return error
        }
    }

    @Test("Exact names go first, and otherwise the case does not matter")
    func finding() throws {
        #expect(try find("Campus", "Weather", "Storms") == "Campus/Weather/Storms")
        #expect(try find("Campus", "Weather", "STORMS") == "Campus/Weather/STORMS")
        #expect(try find("CAMPUS", "weather", "ice") == "campus/Weather/Ice")
        #expect(try find("مكتبة", "A/B", "größE 100 %") == "مكتبة/a/b/Größe 100 %")
    }

    @Test("Names that fit two places are an error that lists them with their topic keys")
    func ambiguous() throws {
        let both = try #require(refusal("Library", "Hours", "Opening"))
        #expect(both.kind == .ambiguousName)
        for subject in channels[2].areas[0].subjects { #expect(both.detail.contains(subject.topicKey.description)) }
        #expect(refusal("CAMPUS", "Weather", "storms")?.kind == .ambiguousName)
        #expect(refusal("CAMPUS", "Weather", "storms")?.detail.contains("Campus/Weather/STORMS (") == true)
    }

    @Test(
        "The error for an unknown name says which one it is, and lists close ones",
        arguments: [
            (["Kampus", "Weather", "Storms"], "channel", "did you mean \"Campus\""),
            (["Campus", "Wheather", "Storms"], "area", "\"Campus\" has no area \"Wheather\"; did you mean \"Weather\"?"),
            (["Campus", "Weather", "Strom"], "subject", "\"Storms\"?"),
            (["Campus", "Weather", "S"], "subject", "\"Snow\""),
            (["Campus", "Weather", "Earthquakes"], "subject", "has no subject \"Earthquakes\""),
            (["", "", ""], "channel", "there is no channel"),
            ([String(repeating: "x", count: 5_000), "a", "b"], "channel", "there is no channel"),
        ])
    func unknown(names: [String], field: String, text: String) throws {
        let problem = try #require(refusal(names[0], names[1], names[2]))
        #expect(problem.kind == .notFound && problem.field == field)
        #expect(problem.detail.contains(text), "\(problem.detail)")
        #expect(problem.detail.count < 600)
    }

    @Test("Nothing is said twice: the title is the first of several lines, or the subject's name, and the pop-up has the text")
    func draft() throws {
        let alert = Self.subject("s"), information = Self.subject("s", .information)
        let plain = SendQuery(title: nil, desc: nil, ttl: nil, sendAt: nil, delay: nil, drill: nil, link: nil)
        func draft(_ query: SendQuery, _ text: String) throws -> MessageContent {
            try query.draft(text: text, to: alert.topicKey, named: "Storms", .alert)
        }
        let several = try draft(plain, "\n\nCampus\tclosed\r\n\r\nStay at home\nand inside\n")
        #expect(several.title == "Campus closed" && several.desc == "Stay at home\nand inside")
        #expect(several.message == "Stay at home\nand inside" && several.topicKey == alert.topicKey)
        for text in ["All clear", "\nAll clear\n", "All clear\n \n"] {
            let one = try draft(plain, text)
            #expect(one.title == "Storms" && one.desc.hasPrefix("All clear") && one.message.hasPrefix("All clear"))
        }
        let titled = SendQuery(title: "Campus closed", desc: nil, ttl: nil, sendAt: nil, delay: nil, drill: nil, link: nil)
        let both = try draft(titled, "Stay at home\nand inside")
        #expect(both.title == "Campus closed" && both.desc == both.message && both.message == "Stay at home\nand inside")
        let long = try draft(plain, String(repeating: "é", count: 1_500))
        #expect(long.desc == String(repeating: "é", count: 499) + "…" && long.message.count == 1_500)
        let silent = try plain.draft(text: "One line", to: information.topicKey, named: "Hours", .information)
        #expect((silent.title, silent.desc, silent.message) == ("Hours", "", "One line"))
        let full = SendQuery(title: "t", desc: "d", ttl: 60, sendAt: 5, delay: nil, drill: true, link: "tel:+4930123")
        let other = try full.draft(text: "  indented", to: information.topicKey, named: "Hours", .information)
        #expect((other.title, other.desc, other.message) == ("t", "d", "  indented"))
        #expect(other.ttl == 60 && other.sendAt == 5 && other.distribution == .information && other.drill == true)
        #expect(other.options == DeliveryOptions(link: "tel:+4930123") && both.options == nil)
    }

    @Test("A text that is empty or too long, or whose first line is too long for a title, is refused by name")
    func badText() {
        let plain = SendQuery(title: nil, desc: nil, ttl: nil, sendAt: nil, delay: nil, drill: nil, link: nil)
        for (text, field) in [
            ("", "message"), (" \n ", "message"), (String(repeating: "x", count: 501) + "\nm", "title"),
            ("t\n" + String(repeating: "x", count: 1_501), "message"), (String(repeating: "x", count: 1_501), "message"),
        ] {
            #expect {
                try plain.draft(text: text, to: Self.subject("s").topicKey, named: "s", .alert)
            } throws: {
                "\($0)".hasPrefix(field)
            }
        }
    }
}

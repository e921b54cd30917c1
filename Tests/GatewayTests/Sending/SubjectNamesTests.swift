import Schemas
import Testing
import Time

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

    @Test("Without parameters the first line is the title, and the title is an Alert's notification text")
    func draft() throws {
        let alert = Self.subject("s"), information = Self.subject("s", .information)
        let plain = SendQuery(title: nil, desc: nil, ttl: nil, sendAt: nil, delay: nil, drill: nil)
        let draft = try plain.draft(text: "\n\nCampus closed\r\nStay at home\n", to: alert.topicKey, .alert)
        #expect(draft.title == "Campus closed" && draft.desc == "Campus closed")
        #expect(draft.message == "Campus closed\r\nStay at home" && draft.topicKey == alert.topicKey)
        #expect(try plain.draft(text: "One line", to: information.topicKey, .information).desc == "")
        let full = SendQuery(title: "t", desc: "d", ttl: 60, sendAt: 5, delay: nil, drill: true)
        let other = try full.draft(text: "  indented", to: information.topicKey, .information)
        #expect((other.title, other.desc, other.message) == ("t", "d", "  indented"))
        #expect(other.ttl == 60 && other.sendAt == 5 && other.distribution == .information && other.drill == true)
    }

    @Test("A text that is empty or too long, or whose first line is too long for a title, is refused by name")
    func badText() {
        let plain = SendQuery(title: nil, desc: nil, ttl: nil, sendAt: nil, delay: nil, drill: nil)
        for (text, field) in [
            ("", "message"), (" \n ", "message"), (String(repeating: "x", count: 501), "title"),
            ("t\n" + String(repeating: "x", count: 1_500), "message"),
        ] {
            #expect { try plain.draft(text: text, to: Self.subject("s").topicKey, .alert) } throws: { "\($0)".hasPrefix(field) }
        }
    }
}

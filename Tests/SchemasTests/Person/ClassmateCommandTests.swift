import Base
import FoundationEssentials
import Schemas
import Testing

/// The commands about classmates, in the form in which services of other versions send them.
@Suite("Commands about classmates")
struct ClassmateCommandTests {
    @Test("A list of classmates, and a look at one of them")
    func forms() throws {
        let list = #"{"accounts":["bob"]}"#
        let command = try ListClassmates(payload: Data(list.utf8))
        #expect(ListClassmates.name == "person.classmates")
        #expect(String(decoding: try command.payload(), as: UTF8.self) == list)
        let reply = #"{"people":[{"account":"bob","first_name":"Bob","relation":"classmates"}]}"#
        let people = try ListClassmates.reply(payload: Data(reply.utf8)).people
        #expect(people.map(\.firstName) == ["Bob"] && people.map(\.relation) == [.classmates])

        let look = #"{"account":"bob","classmate":true}"#
        let view = try ViewPerson(payload: Data(look.utf8))
        let payload = try view.payload()
        #expect(view.classmate == true && String(decoding: payload, as: UTF8.self) == look)
        // As a gateway of an earlier version asks.
        let bob = try #require(AccountName("bob"))
        #expect(String(decoding: try ViewPerson(bob).payload(), as: UTF8.self) == #"{"account":"bob"}"#)
    }

    @Test("A list of too many is refused")
    func limit() {
        func problem(_ count: Int) -> String? {
            let accounts = (0..<count).map { "\"s\($0)\"" }.joined(separator: ",")
            return violation { try ListClassmates(payload: Data(#"{"accounts":[\#(accounts)]}"#.utf8)) }?.field
        }
        #expect(problem(StudyLimits.maxClassmates) == nil)
        #expect(problem(StudyLimits.maxClassmates + 1) == "accounts")
    }
}

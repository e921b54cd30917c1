import Schemas
import Testing

@testable import Messaging

/// How far messages are, without a store.
@Suite("The marks of a conversation")
struct ConversationMarksTests {
    private static func conversation() -> ConversationDocument {
        var conversation = ConversationDocument("Bob", "Ann")
        conversation.add(from: "Bob", to: "Ann", areClassmates: false, at: 1_000)
        return conversation
    }

    @Test("Both have the same conversation, whoever writes first, with each other's names")
    func persons() {
        let conversation = Self.conversation()
        #expect(conversation.id == "ann bob" && ConversationDocument("ANN", "bob").id == "ann bob")
        #expect(conversation["bob"].name.description == "Bob" && conversation.other(of: "bob").name.description == "Ann")
        #expect(conversation.view(for: "ann", readMarks: true).account == "bob")
        #expect(conversation.view(for: "bob", readMarks: true).account == "ann")
    }

    @Test("Numbers are times, only grow, and also do so by a clock that was set back")
    func numbers() {
        var conversation = Self.conversation()
        #expect(conversation.last == 1_000)
        conversation.add(from: "Ann", to: "Bob", areClassmates: false, at: 1_000)
        #expect(conversation.last == 1_001)
        conversation.add(from: "Ann", to: "Bob", areClassmates: true, at: 500)
        #expect(conversation.last == 1_002 && conversation["ann"].sent == 2 && conversation["bob"].sent == 1)
        #expect(conversation.classmates == true)
        conversation.add(from: "Bob", to: "Ann", areClassmates: false, at: 5_000)
        #expect(conversation.last == 5_000 && conversation.classmates == nil)
    }

    @Test("A message is sent, delivered and read; the marks never go back")
    func marks() {
        var conversation = Self.conversation()
        func bob() -> Conversation { conversation.view(for: "bob", readMarks: true) }
        func ann() -> Conversation { conversation.view(for: "ann", readMarks: true) }
        #expect(bob().delivered == nil && bob().read == nil && bob().unread == 0)
        #expect(ann().unread == 1 && ann().seen == nil && ann().delivered == nil)

        conversation.deliver(upTo: 1_000, to: "ann")
        #expect(bob().delivered == 1_000 && bob().read == nil && ann().unread == 1)

        conversation.add(from: "Bob", to: "Ann", areClassmates: false, at: 2_000)
        conversation.read(upTo: 2_000, count: 2, by: "ann")
        #expect(bob().delivered == 2_000 && bob().read == 2_000 && ann().unread == 0 && ann().seen == 2_000)
        #expect(conversation.view(for: "bob", readMarks: false).read == nil)
        #expect(conversation.view(for: "bob", readMarks: false).delivered == 2_000)

        conversation.read(upTo: 1_000, count: 1, by: "ann")
        conversation.deliver(upTo: 1_000, to: "ann")
        #expect(bob().delivered == 2_000 && bob().read == 2_000 && ann().unread == 0)
        // The other direction is another one.
        #expect(ann().delivered == nil && ann().read == nil)
    }

    @Test("What was removed, and what has waited for too long, is said to those whom it concerns")
    func removed() {
        var conversation = Self.conversation()
        conversation["ann"].removed = 1_000
        conversation["ann"].expired = 1_000
        #expect(conversation.view(for: "bob", readMarks: true).expired == 1_000)
        #expect(conversation.view(for: "bob", readMarks: true).removed == nil)
        #expect(conversation.view(for: "ann", readMarks: true).removed == 1_000)
        #expect(conversation.view(for: "ann", readMarks: true).expired == nil)
    }

    @Test("It is due at the earliest of the times")
    func due() {
        var conversation = Self.conversation()
        conversation.look(at: 3_000)
        #expect(conversation.due == 3_000)
        conversation.look(at: 4_000)
        #expect(conversation.due == 3_000)
        conversation.look(at: 2_000)
        #expect(conversation.due == 2_000)
    }

    @Test("Friends may write, classmates if they are named as such; nobody sees anything of those who have parted")
    func states() {
        let states = CheckFriends.State.allCases
        #expect(states.filter { $0.allows(classmate: false) } == [.friends])
        #expect(states.filter { $0.allows(classmate: true) } == [.friends, .strangers])
        #expect(states.filter { $0.parts(classmate: false) } == [.strangers, .blocked])
        #expect(states.filter { $0.parts(classmate: true) } == [.blocked])
    }
}

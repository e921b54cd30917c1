import Schemas
import Testing

/// The permissions matrix of classes, written down a second time.
@Suite("What roles may do in classes")
struct ClassActionTests {
    /// Students, teaching assistants and professors: one letter for each role that may do it.
    private static let matrix: [ClassAction: String] = [
        .readClass: "stp", .leaveClass: "st", .readSessions: "stp", .readClassmates: "stp", .chooseNewSessionPushes: "stp",
        .changeClass: "p", .manageKeys: "p", .changeRoster: "p", .readRoster: "tp", .readHistory: "p",
        .startSession: "stp", .sponsorSession: "tp", .joinSession: "stp", .inviteToSession: "stp",
        .changeOwnSession: "stp", .handOverOwnSession: "stp", .endOwnSession: "stp", .reportPosition: "stp",
        .endStudentsSession: "tp", .endAssistantsSession: "p", .endProfessorsSession: "p", .changeOthersSession: "",
        .readPosts: "stp", .post: "stp", .removeOwnPost: "stp", .removeStudentsPost: "tp", .removeAssistantsPost: "p",
        .removeProfessorsPost: "p", .readRemovedPosts: "p",
    ]

    private static func letter(_ role: ClassRole) -> Character {
        switch role {
        case .student: "s"
        case .assistant: "t"
        case .professor: "p"
        }
    }

    @Test("Each action is for its roles and no other", arguments: ClassAction.allCases)
    func roles(action: ClassAction) throws {
        let letters = try #require(Self.matrix[action])
        for role in ClassRole.allCases {
            #expect(action.isAllowed(to: role) == letters.contains(Self.letter(role)), "\(role)")
        }
    }

    @Test("Staff moderates what is below it, and the professor everything (T7, P3, and T15: not a professor's post)")
    func moderation() {
        let ranks: [ClassRole: Int] = [.student: 0, .assistant: 1, .professor: 2]
        for author in ClassRole.allCases {
            for role in ClassRole.allCases {
                let mayModerate = role == .professor || role == .assistant && ranks[author] == 0
                #expect(ClassAction.remove(postOf: author).isAllowed(to: role) == mayModerate)
                #expect(ClassAction.end(sessionOf: author).isAllowed(to: role) == mayModerate)
            }
        }
        #expect(ClassRole.allCases.filter(\.isStaff) == [.assistant, .professor])
    }

    @Test("What a student may do, staff may as well, except that no professor leaves a class")
    func order() {
        for action in ClassAction.allCases where action.isAllowed(to: .student) {
            #expect(action.isAllowed(to: .assistant))
            #expect(action.isAllowed(to: .professor) == (action != .leaveClass))
        }
    }
}

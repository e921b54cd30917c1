import Testing

@testable import Chaos

@Suite("The verdict about the students of a chaos run")
struct StudentVerdictTests {
    private func student(_ name: String, status: Int? = 200) -> StudentEvidence {
        StudentEvidence(account: name, status: status, bios: ["new"], bio: "new")
    }

    @Test("Students who are signed in, agree on their friendship and have their profiles are not a problem")
    func good() {
        var (ann, ben) = (student("ann"), student("ben"))
        (ann.friends, ben.friends) = (["ben"], ["ann"])
        ann.signedOut = 3
        let verdict = StudentVerdict([ann, ben])
        #expect(verdict.problems == [])
        #expect(verdict.summary == "students: count=2 signed_out=0 devices=3 returned=0")
    }

    @Test("Who is not signed in any more, and who got in again, are problems", arguments: [nil, 401, 503])
    func signedOut(status: Int?) {
        var ben = student("ben")
        ben.signedOut = 2
        ben.returned = 1
        let verdict = StudentVerdict([student("ann", status: status), ben])
        #expect(verdict.problems.count == 2)
        #expect(verdict.summary == "students: count=2 signed_out=1 devices=2 returned=1")
    }

    @Test("A profile has the last answered bio, or one of a later request without an answer")
    func profiles() {
        var ann = student("ann")
        ann.bios = ["answered", "open"]
        for (bio, problems) in [("answered", 0), ("open", 0), ("earlier", 1), (nil, 1)] as [(String?, Int)] {
            ann.bio = bio
            #expect(StudentVerdict([ann]).problems.count == problems, "\(bio ?? "none")")
        }
        // The first request was not answered.
        ann.bios = ["", "open"]
        #expect(StudentVerdict([ann]).problems == [])
    }

    @Test("A friendship or a request that one side does not know is a problem")
    func friends() {
        var (ann, ben) = (student("ann"), student("ben"))
        ann.friends = ["ben"]
        #expect(StudentVerdict([ann, ben]).problems.count == 1)
        ann.friends = []
        ann.asked = ["ben"]
        #expect(StudentVerdict([ann, ben]).problems.count == 1)
        ben.received = ["ann"]
        #expect(StudentVerdict([ann, ben]).problems == [])
        // Of somebody who takes no part nothing is known.
        ann.friends = ["carl"]
        #expect(StudentVerdict([ann, ben]).problems == [])
    }
}

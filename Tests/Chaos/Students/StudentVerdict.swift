/// What students had done, by the hub's answers, and what holds at the end of a run.
struct StudentEvidence: Hashable, Sendable {
    var account: String
    /// The answer to a new token and a request at the end: 200 if the student is still signed in.
    var status: Int?
    /// What the profile may say: the last bio that was answered, or at first nothing, and those of later requests without an answer.
    var bios: Set<String> = [""]
    /// What it says.
    var bio: String?
    /// The devices whose sign-out was answered.
    var signedOut = 0
    /// Those of them that got a token at the end.
    var returned = 0
    /// The student's friends, and whom they have asked, at the end.
    var friends: Set<String> = []
    var asked: Set<String> = []
    /// Who has asked the student.
    var received: Set<String> = []
}

/// The conclusion about students. Pure.
///
/// Nobody is signed out but by their own request, and who was signed out stays out. A profile says what was answered last. Two students agree on
/// whether they are friends.
struct StudentVerdict: Sendable {
    private(set) var problems: [String] = []
    /// The line for the report.
    let summary: String

    init(_ students: [StudentEvidence]) {
        let lost = students.filter { $0.status != 200 }
        let returned = students.filter { $0.returned > 0 }
        summary =
            "students: count=\(students.count) signed_out=\(lost.count) devices=\(students.reduce(0) { $0 + $1.signedOut }) "
            + "returned=\(returned.reduce(0) { $0 + $1.returned })"
        problems += lost.map { "\($0.account) is not signed in any more: \($0.status.map(String.init) ?? "no answer")" }
        problems += returned.map { "\($0.returned) devices of \($0.account) were signed out, and get tokens" }
        let known = Dictionary(uniqueKeysWithValues: students.map { ($0.account, $0) })
        for student in students where student.status == 200 {
            if !student.bios.contains(student.bio ?? "") {
                problems.append(
                    "the profile of \(student.account) says \(student.bio ?? "nothing"), and not \(student.bios.sorted())")
            }
            for name in student.friends where known[name]?.friends.contains(student.account) == false {
                problems.append("\(name) is a friend of \(student.account), but not the other way round")
            }
            for name in student.asked where known[name]?.received.contains(student.account) == false {
                problems.append("\(student.account) has asked \(name), who has no request")
            }
        }
    }
}

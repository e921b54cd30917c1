import Schemas
import Testing

@testable import Chaos

/// The checks of the people who wrote to each other in a chaos run, on evidence made by the tests.
@Suite("The verdict about people who write to each other")
struct MessagingVerdictTests {
    private static let first = letter("one", "ann", "ben", 10)
    private static let second = letter("two", "ben", "ann", 11)
    private static let ids = (ann: ObjectID(), phone: ObjectID(), tablet: ObjectID())

    private static func letter(_ text: String, _ from: String, _ to: String, _ number: Int64) -> Letter {
        Letter(id: ObjectID(), from: from, to: to, number: number, text: text)
    }

    private static func push(_ letter: Letter, to account: String? = nil) -> PersonalPush {
        PersonalPush(kind: .directMessage, about: letter.id, account: account ?? letter.to, state: .accepted, name: "n")
    }

    /// A phone has got a push about a message.
    private static func arrival(_ letter: Letter, at account: String) -> PersonalPush.Arrival {
        PersonalPush.Arrival(
            place: .init(kind: "direct_message", about: "\(letter.id)", account: account), name: "n", received: letter.number)
    }

    private static func side(_ one: String, _ other: String, own: Int64, others: Int64, left: Int = 0) throws
        -> MessagingEvidence.Side
    {
        MessagingEvidence.Side(
            account: one, other: other,
            conversation: Conversation(
                account: try #require(AccountName(other)), last: max(own, others), unread: 0, seen: others, removed: others,
                delivered: own, read: own, expired: nil), left: left)
    }

    /// Ann has written to Ben, who has a phone and a tablet, and he has answered.
    private static func evidence() throws -> MessagingEvidence {
        var evidence = MessagingEvidence()
        evidence.sent = [first, second]
        for (id, account) in [(ids.ann, "ann"), (ids.phone, "ben"), (ids.tablet, "ben")] {
            evidence.devices[id] = MessagingEvidence.Device(account: account, after: 12, received: [first, second])
        }
        evidence.sides = [
            try side("ann", "ben", own: first.number, others: second.number),
            try side("ben", "ann", own: second.number, others: first.number),
        ]
        evidence.pushes = [push(first), push(second)]
        evidence.names = ["n"]
        evidence.arrivals = [arrival(first, at: "ben")]
        return evidence
    }

    private static func problems(_ change: (inout MessagingEvidence) throws -> Void) throws -> [String] {
        var evidence = try evidence()
        try change(&evidence)
        return MessagingVerdict(evidence).problems
    }

    @Test("Messages that each device has once, in order, are not a problem")
    func good() throws {
        let verdict = MessagingVerdict(try Self.evidence())
        #expect(verdict.problems == [])
        #expect(verdict.summary == "letters: accounts=2 devices=3 sent=2 received=6 left=0 pushes=2 problems=0")
    }

    @Test("A device of the recipient that lacks a message is a problem; one of the sender is not")
    func lost() throws {
        let lost = try Self.problems { $0.devices[Self.ids.tablet]?.received = [Self.second] }
        #expect(lost == ["lost: ben (\(Self.ids.tablet)) does not have one (\(Self.first.id))"])
        #expect(try Self.problems { $0.devices[Self.ids.tablet]?.received = [Self.first] } == [])
    }

    @Test("A message that comes twice, in a wrong order, with another text, to somebody else or from nowhere is a problem")
    func devices() throws {
        func problems(_ received: [Letter]) throws -> Int {
            try Self.problems { $0.devices[Self.ids.phone]?.received = received }.count
        }
        #expect(try problems([Self.first, Self.second, Self.second]) == 2, "it is not in order either")
        #expect(try problems([Self.second, Self.first]) == 1)
        #expect(try problems([Self.first, Self.second, Self.letter("three", "ann", "ben", 12)]) == 1)
        let other = Letter(id: Self.first.id, from: "ann", to: "ben", number: 10, text: "another text")
        #expect(try problems([other, Self.second]) == 2, "it lacks the right one")
        let stranger = try Self.problems { evidence in
            evidence.devices[ObjectID()] = MessagingEvidence.Device(account: "eve", received: [Self.first])
        }
        #expect(stranger.count == 1)
    }

    @Test("Numbers grow in the order in which each person has sent, and no two messages have the same")
    func numbers() throws {
        func problems(_ number: Int64) throws -> [String] {
            try Self.problems { evidence in
                let further = Self.letter("three", "ann", "ben", number)
                evidence.sent.append(further)
                evidence.pushes.append(Self.push(further))
                for id in [Self.ids.ann, Self.ids.phone, Self.ids.tablet] {
                    evidence.devices[id]?.received.append(further)
                }
                evidence.sides = [
                    try Self.side("ann", "ben", own: number, others: Self.second.number),
                    try Self.side("ben", "ann", own: Self.second.number, others: number),
                ]
            }
        }
        #expect(try problems(12) == [])
        #expect(try problems(11).contains { $0.hasSuffix("have one number") })
        #expect(try problems(9).contains { $0.contains("is not greater") })
    }

    @Test("What was read is gone, and both sides say the same")
    func sides() throws {
        func problems(_ side: MessagingEvidence.Side) throws -> Int { try Self.problems { $0.sides[0] = side }.count }
        #expect(try problems(Self.side("ann", "ben", own: 10, others: 11, left: 1)) == 1)
        #expect(try problems(Self.side("ann", "ben", own: 9, others: 11)) == 1, "it was not delivered")
        #expect(try problems(Self.side("ann", "ben", own: 10, others: 8)) == 2, "it was not seen, and is not the last")
        #expect(try Self.problems { $0.sides = [$0.sides[0]] }.count == 1, "Ben could not read it")
    }

    @Test("Each message has one push, for its recipient")
    func pushes() throws {
        #expect(try Self.problems { $0.pushes = [Self.push(Self.first)] }.count == 1)
        #expect(try Self.problems { $0.pushes.append(Self.push(Self.first)) }.count == 1)
        #expect(try Self.problems { $0.pushes[0] = Self.push(Self.first, to: "ann") }.count == 1)
        #expect(try Self.problems { $0.pushes[0].hasEnded = false }.count == 1)
        #expect(try Self.problems { $0.names = [] }.count == 2, "FCM does not have them")
        #expect(try Self.problems { $0.pushes.append(Self.push(Self.letter("three", "ann", "ben", 12))) }.count == 1)
        #expect(try Self.problems { $0.arrivals.append(Self.arrival(Self.second, at: "ben")) }.count == 1)
    }
}

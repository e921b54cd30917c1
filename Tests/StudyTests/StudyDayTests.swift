import Base
import Schemas
import TestSupport
import Testing

/// A day of students who walk, join, post and lose the network, at the real commands on SQLite. A model says what should
/// come of it.
@Suite("A day of studying", .timeLimit(.minutes(60)))
struct StudyDayTests {
    @Test(
        "Nobody is in two sessions, none outlives its rules, each post is where it should be, and each push is sent once",
        arguments: Level.isAll ? [DayPlan.short, .wholeDay] : [DayPlan.short])
    func day(plan: DayPlan) async throws {
        // A whole number of steps, so that minutes end with steps.
        let clock = TestClock(1_796_040_000_000)
        try await withTemporaryFolder { folder in
            let outbox = OutboxDouble()
            try await outbox.run(at: "ipc://\(folder)/run/message-log.sock") {
                try await DaySimulation.with(plan, in: folder, clock: clock) { day in
                    // The answers of the message log are lost for a while. The pushes are repeated.
                    outbox.takesBeforeFailure = true
                    outbox.failure = CommandFailure(.unavailable, "lost, outcome unknown")
                    let restored = Task {
                        // Each attempt waits longer than the one before.
                        try? await eventually("pushes whose answers are lost") { outbox.requests > 3 }
                        outbox.failure = nil
                    }
                    try await day.run()
                    try await day.finish()
                    await restored.value
                    try await day.checkHistory()
                    try await day.checkPosts()
                    try await Self.check(outbox, day.model)
                    Self.checkVariety(day)
                }
            }
        }
    }

    /// Each push was sent exactly as often as the model says, and no other one.
    private static func check(_ outbox: OutboxDouble, _ model: DayModel) async throws {
        let expected = model.pushes
        let count = expected.values.reduce(0, +)
        // The message log gets them when the day is over, if the machine is slow.
        try? await eventually("\(count) pushes") { outbox.taken.reduce(0) { $0 + ($1.accounts?.count ?? 0) } >= count }
        var sent: [DayModel.Push: Int] = [:]
        for push in outbox.taken {
            let kind = try #require(push.kind)
            let message = try PersonPush(push.message)
            let session = try #require(ObjectID(message.id))
            for account in push.accounts ?? [] {
                sent[DayModel.Push(kind: kind, session: session, account: account), default: 0] += 1
            }
        }
        let missing = expected.filter { sent[$0.key, default: 0] < $0.value }
        let excess = sent.filter { expected[$0.key, default: 0] < $0.value }
        #expect(missing.isEmpty, "\(missing.count) are missing: \(missing.prefix(5))")
        #expect(excess.isEmpty, "\(excess.count) too often: \(excess.prefix(5))")
        #expect(!outbox.hasContradiction && outbox.senders == ["study"])
    }

    /// A day on which something never happens proves nothing about it.
    private static func checkVariety(_ day: DaySimulation) {
        for what in [
            "start", "join", "leave", "post", "post from afar", "remove post", "remove post by staff", "invite", "hand over",
            "extend", "sponsor", "end by staff", "knock", "not near", "no network", "refused: session", "report near",
            "report far", "report unknown", "check",
        ] {
            #expect(day.done[what, default: 0] > 0, "\(what): \(day.done)")
        }
        let reasons = Set(day.model.sessions.values.compactMap { $0.end?.reason })
        #expect(reasons == [.time, .host, .left, .staff])
        let kinds: Set<PushKind> = [
            .sessionInvite, .sessionJoin, .sessionPost, .sessionHost, .sessionEnding, .sessionEnded, .sessionNew,
        ]
        #expect(Set(day.model.pushes.keys.map(\.kind)) == kinds)
    }
}

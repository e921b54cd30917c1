import Base
import Schemas
import TestSupport
import Testing

@testable import Study

/// Random lives of a session, step by step, with a clock that passes by chance.
@Suite("Random lives of a session", .timeLimit(.minutes(10)))
struct SessionWalkTests {
    private static let accounts: [AccountName] = ["ann", "bob", "cem", "dan", "eve"]
    private static let steps = 60

    private static func input(
        at now: UnixMilliseconds, of session: SessionDocument, using random: inout SeededGenerator
    ) -> SessionInput {
        let account = accounts.randomElement(using: &random) ?? "ann"
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: return .join(SessionDocument.attendant(account, joined: now))
        case 22..<36: return account.key == session.host ? .clock : .leave(account: account.key)
        case 36..<38: return .leave(account: account.key)
        case 38..<39: return .end(.staff, by: account.key)
        case 39..<47: return .handOver(to: account.key)
        case 47..<53: return .edit(SessionEdit(minutes: Int.random(in: 5...90, using: &random)))
        case 53..<60: return .report(.near)
        case 60..<66: return .report(.far)
        case 66..<68: return .report(.unknown)
        case 68..<84: return .posted(by: account.key)
        case 84..<87:
            let waiting: [Set<String>?] = [[account.key], [], nil]
            return .postRemoved(waiting: waiting.randomElement(using: &random) ?? nil)
        default: return .clock
        }
    }

    @Test("Whatever happens, a session is consistent, ends once at the right moment, and its pushes come at their times")
    func walks() throws {
        for seed in 0..<UInt64(Level.isAll ? 10_000 : 300) {
            var random = SeededGenerator(seed: seed)
            var session = SessionDocument.sample(sponsored: seed.isMultiple(of: 3))
            var now = UnixMilliseconds(rawValue: 0)
            var lastPosts: UnixMilliseconds?
            for step in 0..<Self.steps {
                let place = Comment("seed \(seed), step \(step)")
                now = now + .seconds(Int64.random(in: 0...120, using: &random))
                let before = session
                let wasOpen = session.isOpen(at: now, .sample)
                let input = Self.input(at: now, of: session, using: &random)
                do throws(CommandFailure) {
                    let outputs = try session.apply(input, at: now, .sample)
                    for case .posts in outputs {
                        if let lastPosts { #expect(now - lastPosts >= StudyLimits.postPushPeriod, place) }
                        lastPosts = now
                    }
                    Self.check(outputs, of: session, from: before, at: now, place)
                } catch {
                    // What is refused is not stored.
                    session = before
                    #expect(error.status == .conflict, place)
                    #expect(wasOpen || error.field == "ended", place)
                }
                Self.check(session, at: now, place)
                if !wasOpen { #expect(!session.isOpen(at: now, .sample), place) }
                guard before.ended != nil else { continue }
                #expect(session == before, place)
            }
        }
    }

    private static func check(_ session: SessionDocument, at now: UnixMilliseconds, _ comment: Comment) {
        #expect(Set(session.attendants.map(\.account)).count == session.attendants.count, comment)
        #expect(session.attendants.count <= StudyRules.sample.attendants, comment)
        #expect((session.open == true) == (session.ended == nil), comment)
        #expect((session.open == true) == (session.due != nil), comment)
        #expect((session.ended == nil) == (session.reason == nil), comment)
        #expect((session.area.state == .outside) == (session.area.since != nil), comment)
        if let host = session.host { #expect(session.sponsored || session.attends(host), comment) }
        #expect(session.host != nil && session.posts >= 0, comment)
        if let ended = session.ended { #expect(ended <= now && ended <= session.ends, comment) }
    }

    private static func check(
        _ outputs: [SessionOutput], of session: SessionDocument, from before: SessionDocument, at now: UnixMilliseconds,
        _ comment: Comment
    ) {
        #expect(outputs.count { $0 == .changed } <= 1, comment)
        // After the clock nothing is due. What others leave is.
        if session.open == true { #expect(session.ends > now, comment) }
        for output in outputs {
            switch output {
            case .joined(let attendant):
                #expect(session.attends(attendant.account) && !before.attends(attendant.account), comment)
            case .left(let attendant):
                #expect(!session.attends(attendant.account) && before.attends(attendant.account), comment)
            case .ended(let reason, let moment, let told):
                #expect(session.reason == reason && session.ended == moment && Set(told).count == told.count, comment)
                if reason == .time { #expect(moment == before.ends, comment) }
                if reason == .left { #expect(moment == before.graceEnd(.sample), comment) }
            case .handedOver(let attendant, let name):
                #expect(session.host == attendant.account && before.hostName == name && session.area == .never, comment)
            case .presence(let presence): #expect(presence.state == session.area.state, comment)
            case .endsSoon(let told):
                #expect(before.warned == nil && session.ends - now <= StudyLimits.warning, comment)
                // The host has caused it by another end.
                if session.ends != before.ends { #expect(!told.map(\.key).contains(session.host ?? ""), comment) }
            case .posts, .changed: break
            }
        }
    }

    @Test("The clock alone, called whenever something is due, leaves nothing due, and ends every session")
    func clockAlone() throws {
        for seed in 0..<UInt64(Level.isAll ? 10_000 : 300) {
            var random = SeededGenerator(seed: seed)
            var session = SessionDocument.sample(minutes: Int.random(in: 5...200, using: &random))
            var now = UnixMilliseconds(rawValue: 0)
            for _ in 0..<10 {
                let input = Self.input(at: now, of: session, using: &random)
                var next = session
                if (try? next.apply(input, at: now, .sample)) != nil { session = next }
                now = now + .seconds(Int64.random(in: 0...30, using: &random))
            }
            var looks = 0
            while let due = session.due {
                now = max(now, due)
                session = try session.after(.clock, at: now)
                if let next = session.due { #expect(next > now, "seed \(seed)") }
                looks += 1
                try #require(looks < 10, "seed \(seed)")
            }
            #expect(session.ended != nil && !session.isOpen(at: now, .sample), "seed \(seed)")
        }
    }
}

import Base
import Bus
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// What persons see of open sessions: near-by ones, their own, and those to which they are invited.
@Suite("Reading study sessions over the bus", .timeLimit(.minutes(10)))
struct SessionReadTests {
    @Test("Near-by are the sessions of all one's classes within the radius, the nearest first", arguments: StoreKind.ofRules)
    func near(kind: StoreKind) async throws {
        try await RunningStudy.with(kind) { study in
            let physics = try await study.addClass(students: ["ann", "bob", "eve"])
            let chemistry = try await study.addClass("CHE-1", students: ["bob", "eve"])
            let biology = try await study.addClass("BIO-1", students: ["carl"])
            let far = try await study.person("ann").start(in: physics, at: Spot.north(800))
            let close = try await study.person("bob").start(in: chemistry, at: Spot.north(300))
            try await study.person("carl").start(in: biology)
            let eve = study.person("eve")
            let found = try await eve.near()
            #expect(found.map(\.session) == [close, far])
            #expect(found.map(\.distance) == [300, 800])
            #expect(try await eve.near(1_000).map(\.distance) == [200, 700])
            #expect(try await eve.near(radius: 799).map(\.session) == [close])
            #expect(try await eve.near(radius: 801).count == 2)
            #expect(try await eve.near(radius: 299).isEmpty)
            // Ann is in one of the classes.
            #expect(try await study.person("ann").near().map(\.session) == [far])
            // What changes is seen at once, as who leaves the class sees nothing of it at once.
            try await eve.join(close)
            #expect(try await eve.near().first?.session.attendants == ["bob", "eve"])
            try await study.person("bob").leave(close)
            #expect(try await eve.near().map(\.session) == [far])
            try await eve.request(LeaveClass(physics))
            #expect(try await eve.near().isEmpty)
            let tooFar = await eve.failure(of: FindNearSessions(around: Spot.person(), radius: 50_001))
            #expect(outcome(of: tooFar) == "invalid radius")
        }
    }

    @Test("At one's own place, over the date line and beside the poles there are neighbours")
    func edges() throws {
        func session(_ latitude: Double, _ longitude: Double) -> SessionDocument {
            var session = SessionDocument.sample()
            session.place = Coordinate(latitude: latitude, longitude: longitude)
            return session
        }
        let sessions = [session(0, 179.9999), session(0, -179.9999), session(90, 0), session(89.9999, 180), session(0, 0)]
        func near(_ latitude: Double, _ longitude: Double) -> [ObjectID] {
            sessions.near(Coordinate(latitude: latitude, longitude: longitude), radius: 50, at: 0, .sample).map(\.session.id)
        }
        #expect(near(0, 179.9999) == [sessions[0].id, sessions[1].id])
        #expect(near(0, -180).count == 2)
        #expect(near(90, 77) == [sessions[2].id, sessions[3].id])
        #expect(near(0, 0) == [sessions[4].id])
        #expect(near(45, 45).isEmpty)
        let many = (0..<250).map { session(Double($0) / 1_000_000, 0) }
        let found = many.near(Coordinate(latitude: 0, longitude: 0), radius: 50_000, at: 0, .sample)
        #expect(found.map(\.session.id) == many.prefix(StudyLimits.maxNear).map(\.id))
    }

    @Test("The list of a class has its open sessions, the one that began last first", arguments: StoreKind.ofRules)
    func list(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningStudy.with(kind, clock: clock) { study in
            let id = try await study.addClass(students: ["ann", "bob", "eve"])
            var started: [StudySession] = []
            for (name, minutes) in [("ann", 60), ("bob", 10), ("eve", 90)] as [(AccountName, Int)] {
                started.append(try await study.person(name).start(in: id, minutes: minutes))
                clock.pass(.seconds(60))
            }
            let prof = study.person("prof")
            #expect(try await prof.sessions(of: id) == Array(started.reversed()))
            clock.pass(.seconds(8 * 60))
            #expect(try await prof.sessions(of: id) == [started[2], started[0]])
            let reply = try await prof.request(ListSessions(of: id))
            #expect(reply.now == clock.now)
            #expect(try await prof.request(GetClass(id)).sessions == 2)
            clock.pass(.seconds(51 * 60))
            #expect(try await prof.sessions(of: id) == [started[2]])
        }
    }

    @Test("One's invitations are those to open sessions in which one is not, the newest first", arguments: StoreKind.ofRules)
    func invites(kind: StoreKind) async throws {
        let database = try await kind.newDatabaseURL()
        let clock = TestClock()
        try await withTemporaryFolder { folder in
            let open = try await RunningStudy.with(in: folder, database: database, clock: clock) { study in
                let id = try await study.addClass(students: ["ann", "bob", "eve"])
                return [
                    try await study.person("ann").start(in: id), try await study.person("bob").start(in: id),
                    try await study.person("prof").sponsor(in: id),
                ]
            }
            let id = open[0].classID
            try await withStudyStore(in: folder, database: database) { store in
                for (number, session) in open.enumerated() {
                    let invite = InviteDocument(
                        id: ObjectID(), session: session.id, classID: id, to: "eve", by: "ann", byName: "Ann",
                        at: clock.now + .seconds(Int64(number)), expires: clock.now + .seconds(86_400))
                    try await store.insert(invite, into: StudyStore.invites)
                }
            }
            try await RunningStudy.with(in: folder, database: database, clock: clock) { study in
                let eve = study.person("eve")
                let invites = try await eve.own().invites
                #expect(invites.map(\.session.id) == [open[2].id, open[1].id, open[0].id])
                #expect(invites.allSatisfy { $0.by == "ann" })
                #expect(try await study.person("bob").own().invites.isEmpty)
                // Not to one in which she is, nor to one that has ended.
                try await eve.join(open[0])
                try await study.person("bob").leave(open[1])
                #expect(try await eve.own().invites.map(\.session.id) == [open[2].id])
            }
        }
    }
}

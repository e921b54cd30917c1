import Base
import Histogram
import Testing

@testable import LoadTester

/// The students of `msi-load study`.
@Suite("A load of students")
struct StudyLoadTests {
    private func user() -> StudyUser {
        var random = SeededGenerator(seed: 7)
        return StudyUser(account: "load-1", token: "t", classes: ["a", "b"], random: &random)
    }

    private func session(_ id: String, host: String = "load-2") -> JSONValue {
        ["id": .string(id), "class": "a", "host": .string(host)]
    }

    private func answer(_ status: UInt, _ document: JSONValue = [:]) -> StudyHub.Answer {
        StudyHub.Answer(status: status, document: document)
    }

    @Test("An app asks for the map, for the own session, and for what the student does, in turns")
    func turns() {
        let user = user()
        var random = SeededGenerator(seed: 1)
        let map = user.request(0, random: &random)
        #expect(map.call == .near && map.path == "/user/sessions/near")
        #expect(map.body?["position"]?["latitude"]?.number.flatMap { Double($0) }.map { (51.4...51.6).contains($0) } == true)
        #expect(user.request(4, random: &random).call == .own)
        // Nothing is seen yet, so the student starts a session.
        let start = user.request(2, random: &random)
        #expect(start.call == .start && start.hasKey && ["/classes/a/sessions", "/classes/b/sessions"].contains(start.path))
        #expect(start.body?["position"] != nil && start.body?["leave"] == true)
    }

    @Test("A student joins what is on the map, acts as an attendant or host, and forgets a session that has ended")
    func knowledge() throws {
        let user = user()
        var random = SeededGenerator(seed: 1)
        let map = user.request(0, random: &random)
        user.learn(from: answer(200, ["sessions": [["session": session("1"), "distance": 12]], "now": 5]), to: map)
        #expect(user.known.seen == [SeenSession(id: "1", classID: "a")])
        let join = user.join(user.known.seen[0])
        #expect(join.path == "/classes/a/sessions/1" && join.call == .join)
        user.learn(from: answer(200, ["session": session("1"), "now": 5]), to: join)
        #expect(user.known.current?.id == "1" && !user.known.isHost)
        let calls = Set((0..<200).map { _ in user.request(2, random: &random).call })
        #expect(calls == [.post, .posts, .leave])

        let own = user.request(1, random: &random)
        user.learn(from: answer(200, ["current": session("1", host: "load-1"), "hosted": [], "invites": [], "now": 6]), to: own)
        #expect(user.known.isHost)
        let asHost = (0..<200).map { _ in user.request(2, random: &random) }
        #expect(Set(asHost.map(\.call)) == [.position, .post, .edit, .leave])
        user.learn(from: answer(409), to: try #require(asHost.first { $0.call == .post }))
        #expect(user.known.current == nil)

        user.learn(from: answer(409), to: join)
        #expect(user.known.seen.isEmpty)
    }

    @Test("The report has the times and refusals of each kind of call")
    func times() {
        let times = StudyTimes()
        times.add(.near, 200, seconds: 1)
        times.begin()
        for _ in 0..<99 { times.add(.near, 200, seconds: 0.002) }
        times.add(.near, 503, seconds: 0.2)
        times.add(.join, 409, seconds: 0.004)
        let (near, join) = (times.all[.near], times.all[.join])
        #expect(near?.times.totalCount == 100 && near?.refused == 0 && join?.refused == 1)
        #expect(near.map { abs(LoadReport.Latency($0.times).longest - 200) < 1 } == true)
        #expect(near.map { abs(LoadReport.Latency($0.times).p50 - 2) < 0.1 } == true)
    }
}

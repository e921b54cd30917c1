import Base
import Testing

@testable import LoadTester

/// The students of `msi-load messaging`.
@Suite("A load of students who write")
struct MessagingLoadTests {
    private func news(_ after: Int64, _ messages: [JSONValue]) -> JSONValue {
        ["messages": .array(messages), "conversations": [], "after": .integer(after), "now": 5]
    }

    @Test("An app takes each message that is for its student once, and its position never goes back")
    func arrivals() {
        let user = MessagingUser(account: "load-1", token: "t")
        let own: JSONValue = ["id": "b", "to": "load-2", "from": "load-1"]
        user.got(news(7, [["id": "a", "to": "load-1", "from": "load-2"], own]))
        #expect(user.after == 7)
        #expect(user.takes("a"))
        #expect(!user.takes("a"))
        #expect(!user.takes("b"), "it is the student's own")
        // A fetch that was answered late: another one has brought the same.
        user.got(news(6, [["id": "c", "to": "load-1", "from": "load-2"]]))
        #expect(user.after == 7)
        #expect(!user.takes("c"))
    }

    @Test("The report names the kinds of calls, and no classes")
    func report() {
        let times = CallTimes<MessagingCall>()
        times.add(.write, 201, seconds: 0.002)
        times.add(.fetch, 200, seconds: 0.001)
        let report = StudentReport(users: 2, seed: 1, times, LoadRecorder.Totals(), seconds: 1)
        #expect(report.calls.map(\.name) == ["write", "fetch"])
        #expect(report.description.contains("2 with open apps; seed 1"))
    }
}

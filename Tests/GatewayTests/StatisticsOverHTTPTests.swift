import Foundation
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Statistics over HTTP, with all services.
@Suite("Statistics over HTTP", .timeLimit(.minutes(10)))
struct StatisticsOverHTTPTests {
    private static func states(_ object: [String: Any]) -> [String: Int64] {
        (object["states"] as? [String: Any] ?? [:]).compactMapValues { ($0 as? Int64).flatMap { $0 == 0 ? nil : $0 } }
    }

    @Test("Messages are counted by state, in total and in spans of time")
    func counts() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            let start = Int64.nowInMilliseconds
            let empty = try await gateway.request("GET", "/statistics")
            #expect(empty.status == 200 && Self.states(empty.object).isEmpty, "\(empty)")
            #expect(empty.text.contains(#""buckets":[]"#) && empty.object["oldest_waiting"] == nil)
            // Without a relay they wait.
            let first = try await gateway.post(path.message("first"))
            _ = try await gateway.post(path.message("second"))
            let scheduled = try await gateway.post(path.message(and: #""send_at":\#(start + 3_600_000)"#))
            let recalled = try await gateway.post(path.message(and: #""delay":3600"#))
            #expect(try await gateway.request("DELETE", "/message/\(recalled)").status == 200)

            let edges = "\(start - 1_000),\(start),\(start + 600_000)"
            let all = try await gateway.request("GET", "/statistics?edges=\(edges)")
            #expect(all.status == 200, "\(all)")
            #expect(Self.states(all.object) == ["pending": 3, "recalled": 1])
            #expect(all.object["scheduled"] as? Int64 == 1)
            let oldest = try #require(all.object["oldest_waiting"] as? [String: Any])
            #expect(oldest["msi_key"] as? String == first && oldest["title"] as? String == "first")
            let buckets = try #require(all.object["buckets"] as? [[String: Any]])
            #expect(buckets.map { $0["from"] as? Int64 } == [start - 1_000, start])
            #expect(buckets.map { $0["to"] as? Int64 } == [start, start + 600_000])
            #expect(buckets.map(Self.states) == [[:], ["pending": 3, "recalled": 1]])

            let ended = try await gateway.request("GET", "/statistics?by=ended&edges=\(edges)")
            let ends = try #require(ended.object["buckets"] as? [[String: Any]])
            #expect(ends.map(Self.states) == [[:], ["recalled": 1]] && Self.states(ended.object) == Self.states(all.object))

            for (name, id) in [("channel", path.channel), ("area", path.area), ("subject", path.subject)] {
                #expect(Self.states(try await gateway.request("GET", "/statistics?\(name)=\(id)").object).count == 2)
                #expect(Self.states(try await gateway.request("GET", "/statistics?\(name)=\(ObjectID())").object).isEmpty)
            }
            #expect(try await gateway.request("DELETE", "/message/\(scheduled)").status == 200)
        }
    }

    @Test("A parameter that is wrong is refused by its name")
    func refused() async throws {
        try await RunningGateway.with(services: ["msi-people"]) { gateway in
            let tooMany = (0...CountMessages.maxEdges).map(String.init).joined(separator: ",")
            for (query, name) in [
                ("edges=", "edges"), ("edges=a", "edges"), ("edges=1,", "edges"), ("edges=2,1", "edges"), ("edges=1,1", "edges"),
                ("edges=-1,1", "edges"), ("edges=%2B1", "edges"), ("edges=99999999999999999999", "edges"),
                ("edges=\(tooMany)", "edges"),
                ("by=colour", "by"), ("channel=5", "channel"), ("state=failed", "state"), ("by=ended&by=ended", "by"),
            ] {
                let refused = try await gateway.request("GET", "/statistics?\(query)")
                #expect(refused.status == 400 && refused.problem == "invalid-field", "\(query): \(refused)")
                #expect(refused.object["field"] as? String == name, "\(query): \(refused)")
            }
        }
    }

    @Test("Only messages that the history shows a caller as well are counted for the caller")
    func limited() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let (open, anns) = (SamplePath(cube.open), SamplePath(cube.anns))
            let hidden = try await gateway.post(anns.message())
            let shown = try await gateway.post(open.message())
            _ = try await gateway.post(anns.message(and: #""follows":"\#(shown)""#))
            let (ann, bob) = (try await gateway.newSession("ann"), try await gateway.newSession("bob"))
            let scoped = gateway.with(token: try await scopedToken(gateway, cube))
            func expect(_ answer: HTTPAnswer, _ count: Int64, oldest: String) throws {
                #expect(answer.status == 200 && Self.states(answer.object) == ["pending": count], "\(answer)")
                let found = try #require(answer.object["oldest_waiting"] as? [String: Any])
                #expect(found["msi_key"] as? String == oldest && found["follow_ups"] == nil, "\(found)")
            }
            try expect(try await ann.request("GET", "/statistics"), 3, oldest: hidden)
            try expect(try await bob.request("GET", "/statistics"), 1, oldest: shown)
            try expect(try await scoped.request("GET", "/statistics"), 1, oldest: shown)
            try expect(try await bob.request("GET", "/statistics?channel=\(open.channel)"), 1, oldest: shown)
            let none = try await bob.request("GET", "/statistics?area=\(anns.area)&edges=0,\(Int64.nowInMilliseconds)")
            #expect(none.status == 200 && Self.states(none.object).isEmpty && none.object["oldest_waiting"] == nil, "\(none)")
            #expect((none.object["buckets"] as? [Any])?.count == 1)
        }
    }

    private func scopedToken(_ gateway: RunningGateway, _ cube: CampusCube) async throws -> String {
        let root = try await gateway.newSession("root", "super_user")
        try await root.confirm()
        return try await root.makeToken(["read"], #""scope":["\#(cube.open)"]"#)
    }
}

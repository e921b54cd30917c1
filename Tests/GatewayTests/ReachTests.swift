import Foundation
import Schemas
import TestSupport
import Testing
import Base

@testable import Gateway

/// How many phones a message would reach, as far as the hub knows.
@Suite("Reach", .timeLimit(.minutes(10)))
struct ReachTests {
    private static let now: UnixMilliseconds = 1_800_000_000_000
    private static let old = now - (ReadReach.recency + 1)

    private static func reach(
        _ level: SubscriptionLevel, received: Int64? = nil, at time: UnixMilliseconds = now, installations: Int = 0,
        running: Int = 0
    ) -> Reach {
        var subject = Subject.example
        subject.opt.level = level
        let counted = received.map { ReceivedMessage(msiKey: ObjectID(), timestamp: time, received: $0) }
        return Reach(
            of: subject, ReadReach.Reply(counted: counted, installations: installations), running: running, askAbove: 1_000,
            at: now)
    }

    @Test("What phones have reported is sure, unless more phones are known otherwise")
    func certainty() {
        func expect(_ reach: Reach, _ phones: Int64?, _ sure: Reach.Certainty, ofMessage: Bool = false) {
            #expect(reach.phones == phones && reach.sure == sure, "\(reach)")
            #expect((reach.message != nil) == ofMessage && (reach.at != nil) == ofMessage, "\(reach)")
        }
        expect(Self.reach(.optional), nil, .unknown)
        expect(Self.reach(.optional, installations: 2_000), nil, .unknown)
        expect(Self.reach(.optional, running: 7), 7, .estimated)
        expect(Self.reach(.optional, received: 412, installations: 2_000, running: 120), 412, .reported, ofMessage: true)
        expect(Self.reach(.optional, received: 3, running: 120), 120, .estimated)
        expect(Self.reach(.optional, received: 412, at: Self.old, running: 7), 412, .estimated, ofMessage: true)
        expect(Self.reach(.recommended, installations: 2_000), 2_000, .estimated)
        expect(Self.reach(.recommended, received: 412, installations: 2_000), 412, .reported, ofMessage: true)
        expect(Self.reach(.forced, received: 412, installations: 2_000), 2_000, .estimated)
        expect(Self.reach(.forced, received: 2_000, installations: 2_000), 2_000, .reported, ofMessage: true)
    }

    @Test("Apps are counted by their questions of a minute, each topic once, and made-up topics take no room from known ones")
    func running() {
        let topics = (0..<3).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
        let start = ContinuousClock.now
        func at(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }
        var counts = RunningApps.Counts(from: start, maxTopics: 2)
        for second in 0..<5 { counts.add([topics[0], topics[1], topics[0]], at: at(second)) }
        counts.add(topics, at: at(10))
        #expect(topics.map { counts.count(of: $0, at: at(59)) } == [6, 6, 0])
        // The next minute begins, and the previous one still tells.
        counts.add([topics[2]], at: at(61))
        #expect(topics.map { counts.count(of: $0, at: at(62)) } == [6, 6, 1])
        #expect(topics.map { counts.count(of: $0, at: at(122)) } == [0, 0, 1])
        #expect(topics.map { counts.count(of: $0, at: at(400)) } == [0, 0, 0])
    }

    @Test("Phones' reports and questions say how many phones a subject reaches")
    func reported() async throws {
        try await RunningGateway.with(settings: ["MSI_GATEWAY_ASK_ABOVE": "2"]) { gateway in
            let anonymous = gateway.with(token: nil)
            let path = try await gateway.makeSubject()
            func reach() async throws -> [String: Any] {
                let answer = try await gateway.request("GET", "/reach?topic=\(path.topicKey)")
                #expect(answer.status == 200, "\(answer)")
                return answer.object
            }
            let nothing = try await reach()
            #expect(nothing["sure"] as? String == "unknown" && nothing["phones"] == nil && nothing["message"] == nil)
            #expect(nothing["ask_above"] as? Int64 == 2 && nothing["installations"] as? Int64 == 0)
            let since = try await anonymous.request("POST", "/message/since", body: #"{"topics":["\#(path.topicKey)"]}"#)
            #expect(since.status == 200, "\(since)")
            #expect(try await reach()["running"] as? Int64 == 1)
            let (first, second) = (try await gateway.post(path.message("1")), try await gateway.post(path.message("2")))
            for (number, keys) in [#""\#(first)""#, #""\#(first)","\#(second)""#, #""\#(first)""#].enumerated() {
                let report = #"{"installation":"\#(ObjectID())","report":\#(number + 1),"received":[\#(keys)],"opened":[]}"#
                #expect(try await anonymous.request("POST", "/receipt", body: report).status == 204)
            }
            let told = try await reach()
            #expect(told["sure"] as? String == "reported" && told["phones"] as? Int64 == 3 && told["message"] as? String == first)
            #expect(told["installations"] as? Int64 == 3 && told["at"] is Int64, "\(told)")
        }
    }

    @Test("A subject that the caller may not send to, or that does not exist, has no reach")
    func hidden() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let bob = try await gateway.newSession("bob")
            #expect(try await bob.request("GET", "/reach?topic=\(cube.open)").status == 200)
            let unknown = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            for topic in [cube.anns, unknown] {
                let refused = try await bob.request("GET", "/reach?topic=\(topic)")
                #expect(refused.status == 404 && refused.object["field"] as? String == "topic", "\(refused)")
            }
            for query in ["", "?topic=", "?topic=a"] {
                let refused = try await bob.request("GET", "/reach\(query)")
                #expect(refused.status == 400 && refused.object["field"] as? String == "topic", "\(query): \(refused)")
            }
            #expect(try await gateway.with(token: nil).request("GET", "/reach?topic=\(cube.open)").status == 401)
            let root = try await gateway.newSession("root", "super_user")
            try await root.confirm()
            for (rights, status) in [(["read"], 200), (["send"], 200), (["administer"], 403)] {
                let script = gateway.with(token: try await root.makeToken(rights))
                #expect(try await script.request("GET", "/reach?topic=\(cube.open)").status == status, "\(rights)")
            }
        }
    }
}

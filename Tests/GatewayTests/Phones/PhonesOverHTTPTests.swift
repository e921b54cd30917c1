import Bus
import Foundation
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// The routes of students' phones, without a relay.
@Suite("Phones over HTTP", .timeLimit(.minutes(10)))
struct PhonesOverHTTPTests {
    private static let topic = "6b0187feff0dafac2833f429-6b0187feff0dafac2833f430-6b0187feff0dafac2833f431"

    @Test("A wrong field is refused by its name")
    func refused() async throws {
        try await RunningGateway.with { gateway in
            let anonymous = gateway.with(token: nil)
            let tooMany = Array(repeating: "\"\(Self.topic)\"", count: 801).joined(separator: ",")
            for (body, field) in [
                ("{}", "topics"), (#"{"topics":[]}"#, "topics"), (#"{"topics":["a"]}"#, "topics"),
                (#"{"topics":["\#(Self.topic)"],"after":"yesterday"}"#, "after"),
                (#"{"topics":["\#(Self.topic)"],"colour":1}"#, "colour"),
                ("{\"topics\":[\(tooMany)]}", "topics"),
            ] {
                let answer = try await anonymous.request("POST", "/message/since", body: body)
                #expect(answer.status == 400, "\(body.prefix(100)): \(answer)")
                #expect((answer.object["field"] as? String ?? "").hasPrefix(field), "\(body.prefix(100)): \(answer)")
            }
            for (body, field) in [("{}", "token"), (#"{"token":""}"#, "token"), (#"{"token":"../x"}"#, "token")] {
                let answer = try await anonymous.request("POST", "/phone/topics", body: body)
                #expect(answer.status == 400 && answer.object["field"] as? String == field, "\(body): \(answer)")
            }
            #expect(try await anonymous.request("POST", "/message/since", body: "[").problem == "invalid-json")
        }
    }

    @Test("Without the relay the topics are unavailable, and everything else works")
    func withoutRelay() async throws {
        try await RunningGateway.with { gateway in
            let anonymous = gateway.with(token: nil)
            let topics = try await anonymous.request("POST", "/phone/topics", body: #"{"token":"a"}"#)
            #expect(topics.status == 503 && topics.problem == "service-unavailable", "\(topics)")
            let since = try await anonymous.request("POST", "/message/since", body: #"{"topics":["\#(Self.topic)"]}"#)
            #expect(since.status == 200, "\(since)")
            #expect((since.object["messages"] as? [Any])?.isEmpty == true)
            #expect(since.object["next"] is String)
            try await eventually { try await gateway.request("GET", "/health").status == 200 }
        }
    }

    @Test("Many phones read the accepted messages with few readings of the message log, and each new one within a moment")
    func manyPhones() async throws {
        let reads = Mutex((ofPhones: 0, ofAll: 0))
        let accepted = Mutex<[AcceptedMessage]>([])
        let topic = try #require(TopicKey(Self.topic))
        func accept(_ title: String) {
            let message = PhoneMessage(
                msiKey: ObjectID(), topicKey: topic, distribution: .information, title: title, desc: "d", message: "m",
                timestamp: 1)
            accepted.withLock { $0.append(AcceptedMessage(accepted: .now, message: message)) }
        }
        accept("first")
        try await withTemporaryFolder { folder in
            try await BusDouble.run("message-log", in: folder) { router in
                router.on(ReadAccepted.self) { command, _ in
                    reads.withLock { $0.ofPhones += 1 }
                    return ReadAccepted.Reply(messages: [], next: PageCursor(before: 1))
                }
                router.on(FollowAccepted.self) { command, _ in
                    reads.withLock { $0.ofAll += 1 }
                    let messages = accepted.withLock(\.self).filter { $0.cursor > command.after ?? PageCursor(before: 0) }
                    return FollowAccepted.Reply(messages: messages, end: nil, watermark: PageCursor(before: 7))
                }
            } _: {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let phone = gateway.with(token: nil)
                    func titles(after: String? = nil) async throws -> [String] {
                        let position = after.map { #","after":"\#($0)""# } ?? ""
                        let answer = try await phone.request(
                            "POST", "/message/since", body: #"{"topics":["\#(Self.topic)"]\#(position)}"#)
                        #expect(answer.status == 200, "\(answer)")
                        return (answer.object["messages"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String }
                    }
                    try await eventually("the copy is filled") { try await titles() == ["first"] }
                    reads.withLock { $0 = (0, 0) }
                    let begin = ContinuousClock.now
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<200 {
                            group.addTask {
                                let position = PageCursor(before: UnixMilliseconds(rawValue: 1_000_000 + Int64(number)))
                                let read = try await titles(after: "\(position)")
                                #expect(read == ["first"])
                            }
                        }
                        try await group.waitForAll()
                    }
                    let took = ContinuousClock.now - begin
                    let counts = reads.withLock(\.self)
                    #expect(counts.ofPhones == 0)
                    // One at the start, one for each quarter of a second, and the regular ones.
                    #expect(counts.ofAll <= 3 + Int(took / .milliseconds(200)), "\(counts.ofAll) in \(took)")
                    accept("second")
                    try await eventually("the next message is there") {
                        try await titles() == ["first", "second"]
                    }
                }
            }
        }
    }

    @Test("Alerts that wait reach phones within a moment, from the copy, and go when they were recalled")
    func alerts() async throws {
        let topic = try #require(TopicKey(Self.topic))
        let alert = PhoneMessage(
            msiKey: ObjectID(), topicKey: topic, distribution: .alert, title: "Storm", desc: "d", message: "m", timestamp: 1)
        let isRecalled = Mutex<Bool?>(nil)
        try await withTemporaryFolder { folder in
            try await BusDouble.run("message-log", in: folder) { router in
                router.on(FollowAccepted.self) { _, _ in
                    let state = isRecalled.withLock(\.self)
                    return FollowAccepted.Reply(
                        messages: [], end: nil, watermark: PageCursor(before: 7), waiting: state == false ? [alert] : nil,
                        recalled: state == true ? [RecalledAlert(msiKey: alert.msiKey, topicKey: topic)] : nil)
                }
            } _: {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    func answer() async throws -> [String: Any] {
                        try await gateway.with(token: nil).request(
                            "POST", "/message/since", body: #"{"topics":["\#(Self.topic)"]}"#
                        ).object
                    }
                    try await eventually("the copy is filled") { try await answer()["next"] is String }
                    #expect(Set(try await answer().keys) == ["messages", "next"])
                    isRecalled.withLock { $0 = false }
                    try await eventually("it waits") {
                        (try await answer()["waiting"] as? [[String: Any]])?.first?["title"] as? String == "Storm"
                    }
                    isRecalled.withLock { $0 = true }
                    try await eventually("it is recalled") {
                        let json = try await answer()
                        return json["waiting"] == nil && json["recalled"] as? [String] == ["\(alert.msiKey)"]
                    }
                }
            }
        }
    }

    @Test("While the copy cannot be filled, the message log answers phones by itself")
    func withoutCopy() async throws {
        try await withTemporaryFolder { folder in
            try await BusDouble.run("message-log", in: folder) { router in
                router.on(ReadAccepted.self) { _, _ in
                    ReadAccepted.Reply(messages: [], next: PageCursor(before: 1_795_262_462_399))
                }
            } _: {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let since = try await gateway.with(token: nil).request(
                        "POST", "/message/since", body: #"{"topics":["\#(Self.topic)"]}"#)
                    #expect((since.object["next"] as? String ?? "").hasPrefix("1795262462399"), "\(since)")
                }
            }
        }
    }

    @Test("Few questions about phones' topics are asked of the relay at once")
    func topicTurns() async throws {
        let running = Mutex((now: 0, most: 0))
        try await withTemporaryFolder { folder in
            try await BusDouble.run("fcm-relay", in: folder) { router in
                router.on(ListTopics.self) { _, _ in
                    running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    defer { running.withLock { $0.now -= 1 } }
                    try await Task.sleep(for: .milliseconds(100))
                    return ListTopics.Reply(topics: [Self.topic])
                }
            } _: {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let anonymous = gateway.with(token: nil)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<24 {
                            group.addTask {
                                let token = #"{"token":"t\#(number)"}"#
                                let answer = try await anonymous.request("POST", "/phone/topics", body: token)
                                // On a busy machine some wait for too long.
                                #expect(answer.text.contains(Self.topic) || answer.problem == "overloaded", "\(answer)")
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
        }
        #expect((2...8).contains(running.withLock(\.most)), "\(running.withLock(\.most))")
    }

    @Test("A message that FCM has not accepted is not given to phones")
    func notAccepted() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            _ = try await gateway.post(path.message("waits"))
            let topic = "\(path.channel)-\(path.area)-\(path.subject)"
            let since = try await gateway.with(token: nil).request(
                "POST", "/message/since", body: #"{"topics":["\#(topic)"]}"#)
            #expect(since.status == 200 && (since.object["messages"] as? [Any])?.isEmpty == true, "\(since)")
        }
    }
}

import Foundation
import Base
import TestSupport
import Testing

/// Runs a body with a stream of events of a gateway.
///
/// - Parameter headers: With a `Cookie` or an `Authorization`, the gateway's token is not sent.
func withEvents<Value: Sendable>(
    of gateway: RunningGateway, headers: [String: String] = [:], _ body: (EventStreamClient) async throws -> Value
) async throws -> Value {
    var headers = headers
    if headers["Cookie"] == nil, headers["Authorization"] == nil { headers["Authorization"] = "Bearer \(gateway.token ?? "")" }
    // The name of a cookie has the port of the Host with which the session was made.
    if headers["Cookie"] != nil { headers["Host"] = "127.0.0.1" }
    return try await withHTTPClient { [headers] http in
        try await EventStreamClient.with("http://127.0.0.1:\(gateway.port)/events", headers: headers, http: http, body)
    }
}

@Suite("GET /events", .timeLimit(.minutes(10)))
struct EventStreamTests {
    /// Posts until a message log that has just started takes the message. Returns its `msi_key`.
    private func accept(_ body: String, at gateway: RunningGateway) async throws -> String {
        let posted = try await gateway.requestUntilTaken("POST", "/message", body: body)
        #expect(posted.status == 201, "\(posted)")
        return try #require(posted.object["msi_key"] as? String)
    }

    @Test("A stream carries the states of messages, changes of the cube, and changes of the services' health")
    func events() async throws {
        try await withTemporaryFolder { folder in
            try await RunningGateway.withServices(["msi-people", "msi-cube"], in: folder) {
                let messageLog = try await ServiceProcess("msi-message-log", in: folder)
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let subject = try await gateway.makeSubject()
                    try await withEvents(of: gateway) { stream in
                        #expect(stream.status == 200 && stream.beginsWithRetry && stream.events("reset") == [])
                        // The state at the beginning.
                        try await eventually("the cube") { stream.events("cube").last?["version"] == 3 }
                        try await eventually("the health") { stream.events("health").last?["services"]?["cube"] == "ok" }

                        let msiKey = try await accept(subject.message("Storm"), at: gateway)
                        let told = try await eventually("the message") { stream.events("message").first }
                        #expect(told["msi_key"]?.string == msiKey && told["topic_key"]?.string == subject.topicKey)
                        #expect(told["state"] == "pending" && told["title"] == "Storm" && told["sender"] != nil)
                        #expect(told["timestamp"] != nil && told["changed"] != nil)

                        _ = try await gateway.request("PUT", "/channel/\(subject.channel)", body: #"{"name":"m","desc":""}"#)
                        try await eventually("the change") { stream.events("cube").last?["version"] == 4 }

                        await messageLog.kill()
                        try await eventually("the failure") { stream.events("health").last?["status"] == "unavailable" }
                    }
                }
            }
        }
    }

    @Test("A client that comes back after a restart of the gateway gets what happened in between, and only that")
    func restart() async throws {
        try await withTemporaryFolder { folder in
            try await RunningGateway.withServices(["msi-people", "msi-cube", "msi-message-log"], in: folder) {
                let (subject, known, last) = try await RunningGateway.with(services: [], in: folder) { gateway in
                    let subject = try await gateway.makeSubject()
                    return try await withEvents(of: gateway) { stream in
                        let known = try await accept(subject.message("1"), at: gateway)
                        try await eventually("the message") { stream.events("message").count == 1 }
                        return (subject, known, try #require(stream.lastEventID))
                    }
                }
                // Another gateway.
                let missed = try await RunningGateway.with(services: [], in: folder) { gateway in
                    try await accept(subject.message("2"), at: gateway)
                }
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    try await withEvents(of: gateway, headers: ["Last-Event-ID": last]) { stream in
                        try await eventually("the missed message") { !stream.events("message").isEmpty }
                        #expect(stream.events("message").map { $0["msi_key"]?.string } == [missed])
                        #expect(stream.events("reset") == [])
                        let new = try await accept(subject.message("3"), at: gateway)
                        try await eventually("the next message") { stream.events("message").count == 2 }
                        #expect(stream.events("message").last?["msi_key"]?.string == new && new != known)
                    }
                    try await withEvents(of: gateway) { stream in
                        #expect(stream.events("message") == [] && stream.events("reset") == [])
                    }
                    try await withEvents(of: gateway, headers: ["Last-Event-ID": "nonsense"]) { stream in
                        try await eventually("a reset") { !stream.events("reset").isEmpty }
                        #expect(stream.events("message") == [] && stream.events("reset") == [[:]])
                    }
                }
            }
        }
    }

    @Test("After a restart of the message log, open streams and clients that come back are told to read the lists again")
    func messageLogRestart() async throws {
        try await withTemporaryFolder { folder in
            try await RunningGateway.withServices(["msi-people", "msi-cube"], in: folder) {
                try await RunningGateway.with(services: [], in: folder) { gateway in
                    let subject = try await gateway.makeSubject()
                    let last = try await withService("msi-message-log", in: folder) { _ in
                        try await withEvents(of: gateway) { stream in
                            _ = try await accept(subject.message("1"), at: gateway)
                            try await eventually("the message") { stream.events("message").count == 1 }
                            return try #require(stream.lastEventID)
                        }
                    }
                    try await withEvents(of: gateway) { stream in
                        try await withService("msi-message-log", in: folder) { _ in
                            try await eventually("a reset") { stream.events("reset").count == 1 }
                            let next = try await accept(subject.message("2"), at: gateway)
                            try await eventually("the message") { stream.events("message").count == 1 }
                            #expect(stream.events("message").first?["msi_key"]?.string == next)
                            try await withEvents(of: gateway, headers: ["Last-Event-ID": last]) { back in
                                try await eventually("a reset") { !back.events("reset").isEmpty }
                                #expect(back.events("reset").count == 1 && back.events("message") == [])
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("With two message logs, a client that comes back after a restart of the gateway gets what happened at both in between")
    func twoMessageLogs() async throws {
        try await withTemporaryFolder { folder in
            let endpoints = ["commands", "events"].map { kind in
                (1...2).map { "ipc://\(folder)/run/log\($0)-\(kind).sock" }
            }
            func messageLog(_ number: Int) -> [String: String] {
                [
                    "MSI_MESSAGE_LOG_LISTEN": endpoints[0][number - 1],
                    "MSI_MESSAGE_LOG_EVENTS_LISTEN": endpoints[1][number - 1],
                ]
            }
            let gatewaySettings = [
                "MSI_MESSAGE_LOG_ENDPOINTS": endpoints[0].joined(separator: ","),
                "MSI_MESSAGE_LOG_EVENTS_ENDPOINTS": endpoints[1].joined(separator: ","),
            ]
            let database = try await StoreKind.mongodb.newDatabaseURL()
            func withMessageLogs(_ body: () async throws -> Void) async throws {
                let shared = database.map { ["MSI_DATABASE_URL": $0] } ?? [:]
                try await withService("msi-message-log", in: folder, settings: shared.merging(messageLog(1)) { $1 }) { _ in
                    try await withService("msi-message-log", in: folder, settings: shared.merging(messageLog(2)) { $1 }) { _ in
                        try await body()
                    }
                }
            }
            func withGateway<Value: Sendable>(_ body: (RunningGateway) async throws -> Value) async throws -> Value {
                try await RunningGateway.with(services: [], in: folder, settings: gatewaySettings, body)
            }
            /// Posts until both message logs have taken a message.
            func post(_ count: Int, _ subject: SamplePath, at gateway: RunningGateway) async throws -> Set<String> {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for number in 0..<count {
                        group.addTask {
                            try await accept(subject.message("\(number)"), at: gateway)
                        }
                    }
                    return try await group.reduce(into: []) { $0.insert($1) }
                }
            }
            try await RunningGateway.withServices(["msi-people", "msi-cube"], in: folder) {
                try await withMessageLogs {
                    let (subject, known, last) = try await withGateway { gateway in
                        let subject = try await gateway.makeSubject()
                        return try await withEvents(of: gateway) { stream in
                            let known = try await post(20, subject, at: gateway)
                            try await eventually("the messages") { stream.events("message").count == 20 }
                            let id = try await eventually("a position at both message logs") {
                                stream.lastEventID.flatMap { $0.split(separator: ".").count == 3 ? $0 : nil }
                            }
                            return (subject, known, id)
                        }
                    }
                    let missed = try await withGateway { try await post(20, subject, at: $0) }
                    try await withGateway { gateway in
                        try await withEvents(of: gateway, headers: ["Last-Event-ID": last]) { stream in
                            func keys() -> [String] { stream.events("message").compactMap { $0["msi_key"]?.string } }
                            try await eventually("the missed messages") { keys().count >= 20 }
                            #expect(stream.events("reset") == [])
                            #expect(keys().count == 20 && Set(keys()) == missed && missed.isDisjoint(with: known))
                            let next = try await post(4, subject, at: gateway)
                            try await eventually("the next messages") { Set(keys()) == missed.union(next) }
                        }
                    }
                }
            }
        }
    }

    @Test("Of message logs that appear and stop no change is lost or told twice: where one may be missing, there is a reset")
    func messageLogsComeAndGo() async throws {
        try await withTemporaryFolder { folder in
            let settings = [
                "MSI_MESSAGE_LOG_ENDPOINTS": "ipc://\(folder)/run/message-log@*.sock",
                "MSI_MESSAGE_LOG_EVENTS_ENDPOINTS": "ipc://\(folder)/run/message-log-events@*.sock",
            ]
            let (one, two) = (MessageLogDouble(), MessageLogDouble())
            try await RunningGateway.with(services: ["msi-people", "msi-cube"], in: folder, settings: settings) { gateway in
                try await withEvents(of: gateway) { stream in
                    func told(_ title: String) -> Int { stream.events("message").count { $0["title"]?.string == title } }
                    let last = try await one.run(in: folder, instance: "@1") { announceOne in
                        try await eventually("a reset for the first one") { stream.events("reset").count == 1 }
                        one.add(3, titled: "one")
                        announceOne()
                        try await eventually("its changes") { told("one") == 3 }
                        two.add(2, titled: "before")
                        try await two.run(in: folder, instance: "@2") { announceTwo in
                            // Its changes until then are in the lists.
                            try await eventually("a reset for the second one") { stream.events("reset").count == 2 }
                            for _ in 0..<10 {
                                one.add(1, titled: "one")
                                two.add(1, titled: "two")
                                announceOne()
                                announceTwo()
                            }
                            try await eventually("the changes of both") { told("one") == 13 && told("two") == 10 }
                            #expect(told("before") == 0 && stream.events("reset").count == 2)
                        }
                        try await eventually("a reset, since the second one is gone") { stream.events("reset").count == 3 }
                        one.add(1, titled: "one")
                        announceOne()
                        try await eventually("the change of the first one") { told("one") == 14 }
                        let last = try #require(stream.lastEventID)
                        // What the second one has done while it stopped is in the lists by now.
                        try await eventually("the last reset") { stream.events("reset").count == 4 }
                        #expect(told("one") == 14 && told("two") == 10)
                        // A client that was away during the reset does not know what it has missed.
                        try await withEvents(of: gateway, headers: ["Last-Event-ID": last]) { back in
                            try await eventually("a reset") { !back.events("reset").isEmpty }
                            #expect(back.events("reset").count == 1 && back.events("message") == [])
                        }
                        one.add(1, titled: "one")
                        announceOne()
                        try await eventually("the change of the first one") { told("one") == 15 }
                        return try #require(stream.lastEventID)
                    }
                    try await eventually("a reset, since the first one is gone") { stream.events("reset").count == 5 }
                    try await withEvents(of: gateway, headers: ["Last-Event-ID": last]) { back in
                        try await eventually("a reset") { back.events("reset").count == 1 }
                    }
                }
            }
        }
    }

    @Test("A client that does not read is cut off, and the others get every event")
    func slowReader() async throws {
        try await withTemporaryFolder { folder in
            let messageLog = MessageLogDouble()
            try await messageLog.run(in: folder) { announce in
                try await RunningGateway.with(services: ["msi-people", "msi-cube"], in: folder) { gateway in
                    let slow = try HeldConnection(to: gateway.port, receiveBuffer: 4_096)
                    slow.send("GET", "/events", gateway.authorization)
                    try await withEvents(of: gateway) { stream in
                        // The kernels keep some megabytes for the slow client, and then the gateway its share.
                        for count in 1...80 {
                            messageLog.add(100, titled: String(repeating: "🎓", count: 500))
                            announce()
                            try await eventually("every event") { stream.events("message").count == count * 100 }
                        }
                        let numbers = stream.events("message").compactMap { $0["timestamp"]?.integer }
                        #expect(numbers == Array(1...8_000) && stream.events("reset") == [])
                        #expect(try await slow.ends())
                    }
                }
            }
        }
    }

    @Test("A gateway that stops ends its streams at once, including those that no one reads")
    func stop() async throws {
        try await RunningGateway.with { gateway in
            let unread = try HeldConnection(to: gateway.port)
            unread.send("GET", "/events", gateway.authorization)
            try await withEvents(of: gateway) { stream in
                #expect(await gateway.process.stop() == 0)
                try await eventually("the end") { stream.hasEnded }
            }
        }
    }

    @Test("HEAD, and pages of foreign origins, are answered as everywhere")
    func head() async throws {
        try await RunningGateway.with(
            settings: ["MSI_GATEWAY_CORS_ORIGINS": "https://portal.example.edu"]
        ) { gateway in
            let head = try await gateway.request("HEAD", "/events")
            #expect(head.status == 200 && head["content-type"] == "text/event-stream" && head.body.isEmpty)
            #expect(try await gateway.request("POST", "/events").status == 405)
            let foreign = try await gateway.request("GET", "/events", headers: ["Origin": "https://example.org"])
            #expect(foreign.problem == "origin-refused")
            try await withEvents(of: gateway, headers: ["Origin": "https://portal.example.edu"]) { stream in
                #expect(stream.status == 200)
            }
        }
    }
}

import Glibc
import JSON
import NIOHTTP1
import Synchronization
import TestSupport
import Testing

extension SystemTests {
    /// Broadcasts from the gateway to the phones of a fleet.
    @Suite("Broadcasts", .serialized)
    struct BroadcastTests {
        private static func message(_ title: String, expiry: Int64 = 60, lifetime: Int64? = nil) -> JSONValue {
            var body: JSONValue = ["type": 2, "actiondata": ["translations": ["en": ["title": .string(title), "msg": "m"]]]]
            if let lifetime { body["lifetime"] = .integer(lifetime) } else { body["expiry"] = .integer(expiry) }
            return body
        }

        private static let feature: JSONValue = [
            "type": 4, "expiry": 60, "actiondata": ["notificationtype": "enable-feature", "feature": "maps", "share": 10],
        ]

        /// Sends a broadcast, also while services are killed.
        private static func send(_ body: JSONValue, to portal: Portal, key: String) async throws -> Int64 {
            try await eventually("the broadcast \(key) is accepted", within: .seconds(30), every: .milliseconds(200)) {
                let answer = try? await portal.call(.POST, "/broadcast", headers: ["Idempotency-Key": key], body)
                guard let answer, answer.status == 201 else { return nil }
                return try answer.json["id"]?.integer
            }
        }

        private static func withdraw(_ id: Int64, from portal: Portal) async throws {
            try await eventually("the broadcast \(id) is withdrawn", within: .seconds(30), every: .milliseconds(200)) {
                try await portal.call(.DELETE, "/broadcast/\(id)").status == 200
            }
        }

        private static func edit(_ id: Int64, _ body: JSONValue, at portal: Portal) async throws {
            try await eventually("the broadcast \(id) is edited", within: .seconds(30), every: .milliseconds(200)) {
                let answer = try? await portal.call(.PUT, "/broadcast/\(id)", body)
                return answer?.status == 200
            }
        }

        /// The values of a field in the log lines with a message.
        private static func values(_ field: String, of message: String, in lines: [String]) -> [String] {
            lines.compactMap { line in
                guard let entry = try? JSONValue(parsing: Array(line.utf8)), entry["message"]?.string == message else {
                    return nil
                }
                return entry[field]?.string ?? entry["metadata"]?[field]?.string
            }
        }

        @Test(
            "While services are killed, each of 200 phones has each active broadcast once, and none that is over or for other phones"
        )
        func killedServices() async throws {
            try await withStack { stack in
                _ = try await stack.portal.makeSubject("Alert", level: "Forced")
                // Of which no phone follows anything.
                let channel = try await stack.portal.call(.POST, "/channel", ["name": "Elsewhere", "desc": ""])
                let elsewhere = try #require(try channel.json["_id"]?.string, "\(channel)")
                // Before any phone is there.
                let early = try await Self.send(Self.message("Early"), to: stack.portal, key: "early")
                let environment = [
                    "MSI_STATE_DIR": stack.stateDirectory, "MSI_GATEWAY_PORT": "\(stack.portal.port)",
                    "MSI_FCM_EMULATOR_PORT": "\(stack.fcm.port)",
                ]
                let ids = Mutex<[String: Int64]>([:])
                let end = try await withProgram(
                    try BuiltProduct.path(of: "msi-phone"), arguments: ["fleet", "--count", "200", "--unsteady", "90"],
                    environment: environment
                ) { fleet in
                    func everywhere(_ id: Int64) async throws {
                        _ = try await fleet.line(within: .seconds(90)) { line in
                            !Self.values("broadcast", of: "every phone has the broadcast", in: [line]).filter { $0 == "\(id)" }
                                .isEmpty
                        }
                    }
                    _ = try await fleet.line(within: .seconds(60)) { $0.contains("\"ready\"") }
                    try await everywhere(early)
                    var sent: [String: Int64] = ["early": early]
                    sent["feature"] = try await Self.send(Self.feature, to: stack.portal, key: "feature")
                    sent["short"] = try await Self.send(Self.message("Short", lifetime: 15_000), to: stack.portal, key: "short")
                    for name in ["wrong", "edited", "moved", "shortened"] {
                        sent[name] = try await Self.send(Self.message(name), to: stack.portal, key: name)
                    }
                    var moved = Self.message("moved")
                    moved["channels"] = [.string(elsewhere)]
                    let edits = [
                        ("edited", Self.message("another text")), ("moved", moved),
                        ("shortened", Self.message("shortened", lifetime: 5_000)),
                    ]
                    for (number, service) in Stack.services.filter({ $0 != "msi-phone" }).enumerated() {
                        try await stack.killAndReplace(service)
                        sent["news \(number)"] = try await Self.send(
                            Self.message("News \(number)"), to: stack.portal, key: "\(number)")
                        if number < edits.count {
                            try await Self.edit(try #require(sent[edits[number].0]), edits[number].1, at: stack.portal)
                        }
                        try await stack.healthy()
                    }
                    try await Self.withdraw(try #require(sent["wrong"]), from: stack.portal)
                    sent["again"] = try await Self.send(Self.feature, to: stack.portal, key: "again")
                    try await everywhere(try #require(sent["again"]))
                    try await eventually("the short one has expired", within: .seconds(30), every: .milliseconds(200)) {
                        try await stack.portal.call(.GET, "/broadcast/\(try #require(sent["short"]))").json["state"] == "expired"
                    }
                    ids.withLock { [sent] in $0 = sent }
                    fleet.signal(SIGTERM)
                    try await fleet.end(within: .seconds(100))
                }
                #expect(end.exitCode == 0, "\(end.lines.suffix(5))")
                let sent = ids.withLock(\.self)
                let shown = Self.values("broadcast", of: "shown", in: end.lines)
                let expected = sent.filter { ["early", "edited"].contains($0.key) || $0.key.hasPrefix("news") }.map {
                    "\($0.value)"
                }
                #expect(Set(shown) == Set(expected))
                #expect(Self.values("phones", of: "shown", in: end.lines).allSatisfy { $0 == "200" })
                #expect(Self.values("broadcasts", of: "taken over twice", in: end.lines) == ["0"])
                // The same phones by the first push, by the second one, and after restarts.
                let first = "\(try #require(sent["feature"]))"
                let since = end.lines.drop { Self.values("broadcast", of: "every phone has the broadcast", in: [$0]) != [first] }
                let during = Self.values("phones", of: "feature of steady phones", in: Array(since))
                #expect(during.count >= 2 && Set(during).count == 1, "\(during)")
                let all = try #require(Self.values("phones", of: "feature", in: end.lines).first).split(separator: ",").compactMap
                { Int($0) }
                #expect(all.filter { $0 >= 90 } == during.first?.split(separator: ",").compactMap { Int($0) })
                #expect((5...45).contains(all.count), "a tenth of 200: \(all.count)")
            }
        }
    }
}

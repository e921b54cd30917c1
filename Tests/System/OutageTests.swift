import Glibc
import JSON
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.HarmedProduct {
    /// Outages of one part, and the recovery from them.
    @Suite("Outages")
    struct OutageTests {
        let stack: Stack
        let portal: Portal

        init() throws {
            stack = try SharedStack.current
            portal = stack.portal
        }

        @Test(
            "A service that hangs is a 503 with Retry-After, and recovers by itself",
            arguments: ["msi-cube", "msi-message-log"])
        func frozen(service: String) async throws {
            try await stack.healthy()
            let subject = try await portal.makeSubject("Information")
            let calls: [(HTTPMethod, String, JSONValue?)] =
                service == "msi-cube"
                ? [(.POST, "/channel", ["name": "While it hangs", "desc": ""])]
                : [(.GET, "/message", nil), (.POST, "/message", subject.message())]
            try await stack.whileFrozen(service) {
                for (method, path, body) in calls {
                    let answer = try await portal.call(method, path, body)
                    #expect(answer.status == 503, "\(method) \(path): \(answer)")
                    #expect(answer["Content-Type"] == "application/problem+json")
                    #expect(answer["Retry-After"].flatMap { Int($0) }.map { $0 > 0 } == true)
                }
                // Without the cube service messages are still accepted, with the gateway's copy of the cube.
                try await eventually("a health that shows it") {
                    let health = try await portal.call(.GET, "/health")
                    let isShown = try health.json["services"]?[String(service.dropFirst(4))] == "unavailable"
                    return isShown && health.status == (service == "msi-cube" ? 200 : 503)
                }
            }
            try await stack.healthy()
            #expect(try await portal.call(.GET, "/channel").status == 200)
            #expect(try await portal.call(.GET, "/message").status == 200)
            let posted = try await portal.post(subject.message())
            #expect(posted.status == 201)
            _ = try await portal.message(try #require(try posted.json["msi_key"]?.string), hasState: "relayed")
        }

        @Test("A relay that hangs soon shows in the health, and messages are accepted meanwhile")
        func relayFrozen() async throws {
            try await stack.healthy()
            let subject = try await portal.makeSubject("Information")
            let key = try await stack.whileFrozen("msi-fcm-relay") {
                try await eventually("a health that shows it") {
                    let health = try await portal.call(.GET, "/health")
                    #expect(health.status == 200)
                    let relay = try health.json["parts"]?["message-log"]?["relay"]
                    #expect(relay?["status"] == "ok" || relay?["message"]?.string?.isEmpty == false)
                    return try health.json["status"] == "degraded" && relay?["status"] != "ok"
                }
                let posted = try await portal.post(subject.message())
                #expect(posted.status == 201)
                return try #require(try posted.json["msi_key"]?.string)
            }
            _ = try await portal.message(key, hasState: "relayed")
            try await eventually("a health that is well") { try await portal.call(.GET, "/health").json["status"] == "ok" }
        }

        @Test(
            "A service that dies is started again, and calls meanwhile succeed or are answered with 503",
            arguments: ["msi-cube", "msi-message-log"])
        func killed(service: String) async throws {
            try await stack.healthy()
            let subject = try await portal.makeSubject("Information")
            try stack.signal(SIGKILL, service)
            var statuses: Set<Int> = []
            try await eventually("a message is accepted again") {
                let answers = [try await portal.post(subject.message()), try await portal.call(.GET, "/channel")]
                statuses.formUnion(answers.map(\.status))
                for answer in answers where answer.status == 503 { #expect(answer["Retry-After"] != nil) }
                return answers.map(\.status) == [201, 200]
            }
            #expect(statuses.isSubset(of: [200, 201, 503]))
            try await stack.healthy()
        }

        @Test("While FCM does not answer, a message is retrying and shows why; then it is relayed once")
        func emulatorFrozen() async throws {
            try await stack.healthy()
            let subject = try await portal.makeSubject("Alert")
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                let key = try await stack.whileFrozen("msi-fcm-emulator") {
                    let posted = try await portal.post(subject.message())
                    #expect(posted.status == 201)
                    let key = try #require(try posted.json["msi_key"]?.string)
                    let retrying = try await portal.message(key, hasState: "retrying")
                    #expect(retrying["relay"]?["attempts"] == 1)
                    #expect((retrying["relay"]?["next_attempt"]?.integer ?? 0) > (retrying["timestamp"]?.integer ?? 0))
                    for component in retrying["relay"]?["components"]?.array ?? [] {
                        #expect(component["state"] == "pending")
                        #expect(component["name"] == nil)
                        #expect(component["error"]?["class"] == "retryable")
                        #expect(["TIMEOUT", "NETWORK"].contains(component["error"]?["code"]?.string))
                        #expect(component["error"]?["message"]?.string?.isEmpty == false)
                    }
                    return key
                }
                let relayed = try await portal.message(key, hasState: "relayed")
                for component in relayed["relay"]?["components"]?.array ?? [] {
                    #expect(component["state"] == "accepted")
                    #expect(component["error"] == nil)
                }
                // FCM may have processed an abandoned request, so the message may have come twice. The phone drops the copy by
                // its msi_key.
                let events = try await phone.events(2) { $0.msiKey == key }
                #expect(Set(events.map(\.component)) == ["notification", "data"])
            }
        }
    }
}

extension SystemTests.OneProduct {
    /// FCM's own refusal.
    @Suite("Refusals by FCM")
    struct RefusalTests {
        @Test("A message of which FCM refuses one component permanently has failed, with FCM's code for that component")
        func failed() async throws {
            let stack = try SharedStack.current
            let portal = stack.portal
            let subject = try await portal.makeSubject("Alert")
            try await stack.fcm.setFaults(
                [["fault": "INVALID_ARGUMENT", "topic": "\(subject.topicKey)", "count": 1]], seed: 1)
            try await stack.withPhone(subscribedTo: [subject.topicKey]) { phone in
                let posted = try await portal.post(subject.message())
                #expect(posted.status == 201)
                let key = try #require(try posted.json["msi_key"]?.string)
                let relay = try #require(try await portal.message(key, hasState: "failed")["relay"])
                #expect(relay["attempts"] == 1)
                #expect(relay["next_attempt"] == nil)
                let components = relay["components"]?.array ?? []
                #expect(components.compactMap { $0["component"]?.string } == ["notification", "data"])
                let accepted = try #require(components.first { $0["state"] == "accepted" })
                #expect(accepted["name"]?.string?.hasPrefix("projects/msi-emulator/messages/") == true)
                let refused = try #require(components.first { $0["state"] == "failed" })
                #expect(refused["error"]?["class"] == "permanent")
                #expect(refused["error"]?["code"] == "INVALID_ARGUMENT")
                #expect(refused["error"]?["message"]?.string?.isEmpty == false)
                #expect(try await phone.events(1).map { JSONValue.string($0.component) } == [accepted["component"]])

                // A message that FCM takes is delivered after one that it refuses.
                let next = try await portal.post(subject.message())
                _ = try await portal.message(try #require(try next.json["msi_key"]?.string), hasState: "relayed")
            }
            try await stack.fcm.setFaults([], seed: 1)
        }
    }
}

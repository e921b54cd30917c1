import FoundationEssentials
import Base
import NIOHTTP1
import TestSupport
import Testing

extension HarmTests.HarmedProduct {
    /// The trace of a message through every service and every restart, `msi trace`, and settings that are read again.
    @Suite("Traces and reloads")
    struct TraceTests {
        private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

        @Test("A message keeps its trace over restarts, a reload shows its debug lines, and msi trace prints its life")
        func life() async throws {
            let stack = try SharedStack.current
            let state = stack.stateDirectory
            try await stack.healthy()
            let subject = try await stack.portal.makeSubject("Information")
            try await stack.fcm.setFaults([["fault": "UNAVAILABLE"]], seed: 1)
            let posted = try await stack.portal.call(
                .POST, "/message", headers: ["traceparent": "00-\(Self.trace)-00f067aa0ba902b7-01"], subject.message())
            #expect(posted.status == 201 && posted["X-Request-Id"] == Self.trace)
            let key = try #require(try posted.json["msi_key"]?.string)
            func log(_ service: String) throws -> [JSONValue] {
                try String(contentsOfFile: "\(state)/log/\(service).log", encoding: .utf8).split(separator: "\n")
                    .compactMap { try? JSONValue(parsing: Data($0.utf8)) }
            }
            func ours(_ service: String, _ message: String) throws -> [JSONValue] {
                try log(service).filter { $0["trace_id"]?.string == Self.trace && $0["message"]?.string == message }
            }
            try await eventually("the first attempt has failed") {
                let isRefused = try !ours("msi-fcm-relay", "not accepted by FCM").isEmpty
                return try isRefused && !ours("msi-message-log", "will be tried again").isEmpty
            }

            for service in ["msi-fcm-relay", "msi-message-log"] {
                let starts = try log(service).count { $0["message"] == "ready" }
                try await stack.killAndReplace(service)
                // Otherwise it would read the new file at its start.
                try await eventually("\(service) is ready again") {
                    try log(service).count { $0["message"] == "ready" } == starts + 1
                }
            }
            let processes = stack.processes
            func changes(of service: String) throws -> Int {
                try log(service).count {
                    $0["message"]?.string == "a setting has changed" && $0["setting"]?.string == "MSI_LOG_LEVEL"
                        && $0["former"]?.string == "info" && $0["new"]?.string == "debug"
                }
            }
            let before = try Stack.services.map(changes)
            try stack.configuration.write(level: "debug")
            try await stack.reload(until: "  MSI_LOG_LEVEL has changed from info to debug (every service)")
            for (service, count) in zip(Stack.services, before) {
                try await eventually("\(service) logs more") { try changes(of: service) == count + 1 }
            }
            #expect(stack.processes == processes)

            try await stack.fcm.setFaults([], seed: 1)
            // The wait before the next attempt doubles with each one that has failed.
            _ = try await stack.portal.message(key, hasState: "relayed", within: .seconds(300))
            let first = try #require(try ours("msi-fcm-relay", "not accepted by FCM").first)
            try await eventually("the lines of the last attempt") {
                try !ours("msi-fcm-relay", "accepted by FCM").isEmpty && !ours("msi-message-log", "relayed").isEmpty
            }
            let last = try #require(try ours("msi-fcm-relay", "accepted by FCM").last)
            #expect(try ours("msi-message-log", "relayed").last?["span_id"] == last["span_id"])
            #expect(first["span_id"] != last["span_id"] && last["msi_key"]?.string == key)

            try await expectLife(of: key, in: stack)
            try stack.configuration.write()
            try await stack.reload(until: "  MSI_LOG_LEVEL has changed from debug to info (every service)")
        }

        private func expectLife(of key: String, in stack: Stack) async throws {
            func msi(_ arguments: String...) async throws -> ProgramEnd<Void> {
                try await stack.msi(["trace"] + arguments)
            }
            try await eventually("the post is in the audit log") {
                try await stack.portal.auditedObjects("message.send").contains(key)
            }
            for argument in [key, Self.trace, "00-\(Self.trace)-00f067aa0ba902b7-01"] {
                let life = try await msi(argument)
                #expect(life.exitCode == 0, "\(life.lines)")
                #expect(life.lines.first == "message \(key): relayed", "\(life.lines)")
                // In this order.
                var rest = life.lines[...]
                for part in [
                    "Closed today", "Library / Main building / Hours", "by FCM as projects/",
                    "message.send by admin from 127.0.0.1", "warning: not accepted by FCM", "accepted by FCM",
                ] {
                    let place = try #require(rest.firstIndex { $0.contains(part) }, "\(part) is not in \(rest)")
                    rest = rest[(place + 1)...]
                }
                #expect(
                    life.lines.contains { $0.contains("data ") && $0.contains("by FCM as projects/") && $0.contains(" at 20") })
                #expect(life.lines.contains { $0.hasSuffix("FCM has accepted the data component") }, "\(life.lines)")
            }
            let json = try await msi(key, "--json", "--log", stack.stateDirectory + "/log")
            let life = try JSONValue(parsing: Data(json.lines.joined().utf8))
            #expect(life["message"]?["msi_key"]?.string == key && life["log"]?.array.isEmpty == false)
            #expect(life["audit"]?.array.first?["entry"]?["action"] == "message.send")
            let unknown = try await msi("ffffffffffffffffffffffff")
            #expect(unknown.exitCode == 1)
            #expect(unknown.lines.contains { $0.contains("nothing is known about ffff") }, "\(unknown.lines)")
            let wrong = try await msi("nonsense")
            #expect(wrong.exitCode == 64, "\(wrong.lines)")
        }
    }
}

import Bus
import FoundationEssentials
import Glibc
import Base
import NIOCore
import NIOHTTP1
import Schemas
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// `msi-canary` beside a stack, with a phone that reports.
    @Suite("Canary")
    struct CanaryTests {
        /// A phone that reports each message of a topic at once.
        private func reporting<Value: Sendable>(
            _ stack: Stack, _ topic: String, _ body: @Sendable () async throws -> Value
        ) async throws -> Value {
            try await stack.withPhone(subscribedTo: [topic]) { phone in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        var (reported, report) = (0, 0)
                        while !Task.isCancelled {
                            let events = phone.events
                            if events.count > reported {
                                report += 1
                                let keys = events[reported...].map { JSONValue.string($0.msiKey) }
                                let answer = try await stack.portal.with(token: nil).call(
                                    .POST, "/receipt",
                                    [
                                        "installation": "9f0c61d2a5b84e7730c1de42", "report": .integer(Int64(report)),
                                        "received": .array(keys), "opened": [],
                                    ])
                                guard answer.status == 204 else { throw UnexpectedAnswer(answer) }
                                reported = events.count
                            }
                            try? await Task.sleep(for: .milliseconds(20))
                        }
                    }
                    let value = try await body()
                    group.cancelAll()
                    return value
                }
            }
        }

        /// A metric's value.
        private func value(_ name: String, at port: Int, _ stack: Stack) async throws -> Double? {
            guard
                let answer = try? await stack.portal.http.answer(
                    .GET, "http://127.0.0.1:\(port)/metrics", headers: [:], body: nil, within: .seconds(60))
            else { return nil }
            let line = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name + " ") }
            return line.flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
        }

        @Test("It sees each delivery; with a frozen relay it says where the messages stay; its messages are in no audit log")
        func delivery() async throws {
            try await withTemporaryFolder { folder in
                // The services are told the canary's topic at their start.
                let topic = try await addSubject(in: folder)
                let ownSettings = ["MSI_CANARY_TOPIC": topic, "MSI_CANARY_ACCOUNT": "admin"]
                try await withStack(in: folder, settings: ownSettings) { stack in
                    try await stack.healthy()
                    let other = try await stack.portal.makeSubject("Information", name: "Other")
                    let audited = try await stack.portal.accepted(other.message(title: "no canary"))
                    try await eventually("it is in the audit log") {
                        try await stack.portal.auditedObjects("message.send") == [audited]
                    }
                    let token = try await stack.portal.call(
                        .POST, "/token", ["name": "canary", "rights": ["read", "send"], "scope": ["\(topic)"]])
                    let secret = try #require(try token.json["secret"]?.string)
                    let port = try LoopbackPort.free()
                    let settings = [
                        "MSI_CANARY_TOPIC": topic, "MSI_CANARY_TOKEN": secret, "MSI_CANARY_INTERVAL": "1",
                        "MSI_GATEWAY_PORT": "\(stack.portal.port)", "MSI_METRICS_PORT": "\(port)", "MSI_STATE_DIR": folder,
                        // Only the first message of an outage is a warning, and it may already have been relayed.
                        "MSI_LOG_LEVEL": "debug",
                    ]
                    // Without a gateway no message has ever arrived.
                    let alone = settings.merging(["MSI_GATEWAY_PORT": "\(try LoopbackPort.free())"]) { $1 }
                    _ = try await withProgram("msi-canary", environment: alone) { _ in
                        try await eventually("a message that is not stored") {
                            try await value("msi_canary_messages_total{outcome=\"not_stored\"}", at: port, stack) ?? 0 >= 1
                        }
                        #expect(try await value("msi_canary_start_timestamp_seconds", at: port, stack) != nil)
                        #expect(try await value("msi_canary_last_received_timestamp_seconds", at: port, stack) == nil)
                    }
                    _ = try await withProgram("msi-canary", environment: settings) { canary in
                        try await reporting(stack, topic) {
                            try await eventually("received messages") {
                                try await value("msi_canary_messages_total{outcome=\"received\"}", at: port, stack) ?? 0 >= 2
                            }
                            #expect(
                                try await value("msi_canary_duration_seconds_count{stage=\"relayed\"}", at: port, stack) ?? 0 >= 2
                            )
                            let last = try #require(await value("msi_canary_last_received_timestamp_seconds", at: port, stack))
                            #expect(abs(last - Date().timeIntervalSince1970) < 60)
                            let status = try await stack.msi(["status"], ownSettings)
                            #expect(status.exitCode == 0)
                            #expect(
                                status.lines.contains {
                                    $0.hasPrefix("canary: the last message, of ")
                                        && $0.contains(/its phone has reported [1-9]\d* of the last/)
                                }, "\(status.lines)")

                            let checked = stack.environment.merging(ownSettings) { $1 }
                            // On a busy machine the last reported message may be older than five seconds, the limit for this interval.
                            try await eventually("a canary that is well") {
                                try await DoctorReport(checked).has("ok", "canary", "the canary's phone has reported")
                            }

                            try await stack.whileFrozen("msi-fcm-relay") {
                                try await eventually("messages that are not relayed") {
                                    try await value("msi_canary_messages_total{outcome=\"not_relayed\"}", at: port, stack) ?? 0
                                        >= 1
                                }
                                // It is counted before it is logged.
                                try await eventually("the line about it") {
                                    canary.lines.contains {
                                        $0.contains("a message has not arrived") && $0.contains("not_relayed")
                                    }
                                }
                            }
                            try await eventually("messages that arrive again") {
                                canary.lines.contains { $0.contains("messages arrive again") }
                            }
                        }
                        // Without a report no phone has it, whatever FCM says.
                        try await eventually("messages that are not received") {
                            try await value("msi_canary_messages_total{outcome=\"not_received\"}", at: port, stack) ?? 0 >= 1
                        }
                        try await eventually("the status of a silent canary") {
                            let silent = try await stack.msi(["status"], ownSettings.merging(["MSI_CANARY_INTERVAL": "1"]) { $1 })
                            return silent.exitCode == 1
                                && silent.lines.contains { $0.hasPrefix("degraded: ") && $0.contains("canary: silent") }
                        }
                        #expect(!canary.lines.contains { $0.contains(secret) })
                    }
                    #expect(try await stack.portal.auditedObjects("message.send") == [audited])
                    // A canary that does not run is checked as far as its settings are known.
                    let gone = "6b0187feff0dafac2833f431-6b0187feff0dafac2833f432-6b0187feff0dafac2833f433"
                    for (change, level, problem) in [
                        (["MSI_CANARY_TOKEN": secret], "warning", "MSI_CANARY_TOPIC is set, and msi-canary does not run"),
                        (["MSI_CANARY_TOKEN": String(secret.reversed())], "failure", "the gateway refuses the canary's token"),
                        (
                            ["MSI_CANARY_TOPIC": "\(other.topicKey)"], "failure",
                            "the canary's token may not send to \(other.topicKey)"
                        ),
                        (["MSI_CANARY_TOPIC": gone], "failure", "there is no subject \(gone)"),
                    ] {
                        let environment = settings.merging(["MSI_CANARY_ACCOUNT": "admin"]) { $1 }.merging(change) { $1 }
                        let report = try await DoctorReport(environment)
                        #expect(report.has(level, "canary", problem), "\(problem): \(report.findings)")
                        #expect(!report.findings.joined().contains { $0.contains(secret) })
                    }
                }
            }
        }

        /// Adds the canary's subject to an empty state directory.
        ///
        /// - Returns: Its topic.
        private func addSubject(in folder: String) async throws -> String {
            try await withService("msi-cube", in: folder) { _ in
                try await withBus { bus in
                    let cube = try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/cube.sock"], logger: quietLogger)
                    let draft = NamedDraft(name: "Canary", desc: "")
                    let channel = try await cube.request(AddChannel(channel: draft)).value.id
                    let area = try await cube.request(AddArea(channelID: channel, area: draft)).value.id
                    let options = SubjectOptions(level: .optional, distribution: .information)
                    let subject = SubjectDraft(name: "Canary", desc: "", opt: options)
                    let added = try await cube.request(AddSubject(channelID: channel, areaID: area, subject: subject))
                    return "\(channel)-\(area)-\(added.value.id)"
                }
            }
        }

        @Test("Without a topic or a token it does not start, and says what is missing")
        func settings() async throws {
            for (settings, missing) in [
                ([:], "MSI_CANARY_TOPIC"), (["MSI_CANARY_TOPIC": "storms"], "MSI_CANARY_TOPIC"),
                (
                    ["MSI_CANARY_TOPIC": "6b0187feff0dafac2833f431-6b0187feff0dafac2833f432-6b0187feff0dafac2833f433"],
                    "MSI_CANARY_TOKEN"
                ),
            ] {
                let end = try await runProgram("msi-canary", environment: settings)
                #expect(end.exitCode == EX_CONFIG && end.lines.contains { $0.contains(missing) }, "\(end.lines)")
            }
        }
    }
}

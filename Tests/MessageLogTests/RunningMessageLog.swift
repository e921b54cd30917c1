import CommandBus
import Schemas
import TestSupport
import Testing
import Time

@testable import MessageLog
@testable import ServiceKit

/// The message log, and a client of it.
struct RunningMessageLog {
    private let ownProcess: ServiceProcess?
    let bus: Bus
    let client: CommandClient
    let endpoint: String
    /// The endpoint of its events.
    let events: String

    /// Runs a test with it as a process.
    ///
    /// - Parameter name: The name of its sockets. A second instance on the same archive needs another one.
    static func with<Result>(
        in folder: String, named name: String = "message-log", settings: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningMessageLog) async throws -> Result
    ) async throws -> Result {
        let endpoint = "ipc://\(folder)/run/\(name).sock"
        let events = "ipc://\(folder)/run/\(name)-events.sock"
        let listens = ["MSI_MESSAGE_LOG_LISTEN": endpoint, "MSI_MESSAGE_LOG_EVENTS_LISTEN": events]
        let settings = settings.merging(listens) { given, _ in given }
        return try await withService("msi-message-log", in: folder, settings: settings) { process in
            try await withBus { bus in
                let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
                return try await body(
                    RunningMessageLog(ownProcess: process, bus: bus, client: client, endpoint: endpoint, events: events))
            }
        }
    }

    /// Runs a test with it in the process of the test. It retries after a tenth of the product's waits or less.
    static func withFastRetries<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: (RunningMessageLog) async throws -> Result
    ) async throws -> Result {
        let settings = try await SettingValues(arguments: [], environment: ["MSI_STATE_DIR": folder], accepted: [])
        var schedule = RetrySchedule()
        schedule.answered = Backoff(first: .milliseconds(100), max: .seconds(1), jitter: 0.8...1.2)
        let wiring = Wiring(settings: settings, logger: quietLogger)
        return try await ServicePlan.messageLog(wiring, schedule: schedule).run {
            try await withBus { bus in
                let run = "ipc://\(folder)/run"
                let client = try CommandClient(bus: bus, endpoints: ["\(run)/message-log.sock"], logger: quietLogger)
                return try await body(
                    RunningMessageLog(
                        ownProcess: nil, bus: bus, client: client, endpoint: "\(run)/message-log.sock",
                        events: "\(run)/message-log-events.sock"))
            }
        }
    }

    var process: ServiceProcess {
        guard let ownProcess else { preconditionFailure("it runs in the process of the test") }
        return ownProcess
    }

    func log(_ command: LogMessage) async throws -> Message {
        try await client.request(command, context: .communicator).message
    }

    func message(_ msiKey: ObjectID) async throws -> Message {
        try await client.request(GetMessage(msiKey: msiKey))
    }

    /// Waits until a message's relay record satisfies a condition.
    func wait(
        for msiKey: ObjectID, within limit: Duration = .seconds(120), until condition: (RelayRecord) -> Bool
    ) async throws -> RelayRecord {
        var relay = try await message(msiKey).relay
        try await eventually(within: limit) {
            relay = try await message(msiKey).relay
            return condition(relay)
        }
        return relay
    }
}

extension LogMessage {
    /// A message as the gateway logs it.
    static func sample(
        _ title: String = "Closed", msiKey: ObjectID = ObjectID(), distribution: Distribution = .alert,
        timestamp: UnixMilliseconds = .now, lifetime: Milliseconds = 3_600_000, idempotencyKey: String? = nil,
        topic: TopicKey = .sample, sendAt: UnixMilliseconds? = nil, approval: Bool? = nil,
        _ change: (inout MessageDraft) -> Void = { _ in }
    ) -> LogMessage {
        var draft = MessageDraft(
            title: title, desc: "\"Quotes\", 🎓, مكتبة", message: "Two\nlines", topicKey: topic, distribution: distribution,
            sendAt: sendAt)
        change(&draft)
        return LogMessage(
            msiKey: msiKey, draft: draft,
            timestamp: timestamp, names: CubeNames(channel: "Campus", area: "Library", subject: "Closures"),
            expires: (sendAt ?? timestamp) + lifetime,
            idempotencyKey: idempotencyKey, approval: approval)
    }
}

extension RequestContext {
    /// The caller for whom the gateway sends its commands.
    static let communicator = RequestContext(actor: "Communicator")
    static let ann = RequestContext(actor: "Ann")
}

extension TopicKey {
    static let sample = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
}

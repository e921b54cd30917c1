import Bus
import Base
import Schemas
import TestSupport
import Testing

@testable import MessageLog
@testable import ServiceKit

/// The message log, and a client of it.
struct RunningMessageLog {
    private let ownProcess: ServiceProcess?
    /// The state directory, which a relay beside it shares.
    let folder: String
    let bus: Bus
    let client: CommandClient
    let endpoint: String
    /// The endpoint of its events.
    let events: String

    /// Runs a test with it as a process, on an empty archive.
    ///
    /// - Parameter relay: A relay that runs as long; by default there is none.
    static func with<Result>(
        _ relay: RelayDouble? = nil, on kind: StoreKind = .sqlite, settings: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningMessageLog) async throws -> Result
    ) async throws -> Result {
        try await withDatabase(kind) { folder, database in
            let settings = settings.merging(database) { given, _ in given }
            guard let relay else { return try await with(in: folder, settings: settings, body) }
            return try await relay.run(in: folder) { try await with(in: folder, settings: settings, body) }
        }
    }

    /// Runs a test with it as a process in a folder that an earlier one may have used.
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
            try await withClient(of: process, in: folder, at: endpoint, events: events, body)
        }
    }

    /// Runs a test with it in the process of the test, beside a relay. It retries after a tenth of the product's waits or less.
    static func withFastRetries<Result>(
        _ relay: RelayDouble, isolation: isolated (any Actor)? = #isolation, _ body: (RunningMessageLog) async throws -> Result
    ) async throws -> Result {
        try await relay.run { folder in
            let settings = try await SettingValues(arguments: [], environment: ["MSI_STATE_DIR": folder], accepted: [])
            var schedule = RetrySchedule()
            schedule.answered = Backoff(first: .milliseconds(100), max: .seconds(1), jitter: 0.8...1.2)
            return try await ServicePlan.messageLog(Wiring(settings: settings, logger: quietLogger), schedule: schedule).run {
                let run = "ipc://\(folder)/run"
                return try await withClient(
                    of: nil, in: folder, at: "\(run)/message-log.sock", events: "\(run)/message-log-events.sock", body)
            }
        }
    }

    private static func withClient<Result>(
        of process: ServiceProcess?, in folder: String, at endpoint: String, events: String,
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningMessageLog) async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var limits = ClientLimits()
            // The tests' database may need longer for an answer on a busy machine than callers wait.
            limits.requestTimeout = .seconds(60)
            let client = try CommandClient(bus: bus, endpoints: [endpoint], limits: limits, logger: quietLogger)
            return try await body(
                RunningMessageLog(
                    ownProcess: process, folder: folder, bus: bus, client: client, endpoint: endpoint, events: events))
        }
    }

    var process: ServiceProcess {
        guard let ownProcess else { preconditionFailure("it runs in the process of the test") }
        return ownProcess
    }

    /// Logs a message.
    ///
    /// - Returns: It as it is stored, or the one that was stored before.
    func log(_ command: LogMessage, context: CallerContext = .communicator) async throws -> Message {
        if let known = try await client.request(command, context: context).known { return known }
        return try await message(command.msiKey)
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

/// Runs a test with a folder, and the settings of a message log with an empty database.
func withDatabase<Result>(
    _ kind: StoreKind, isolation: isolated (any Actor)? = #isolation,
    _ body: (_ folder: String, _ settings: [String: String]) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        try await body(folder, try await kind.newDatabaseURL().map { ["MSI_DATABASE_URL": $0] } ?? [:])
    }
}

extension LogMessage {
    /// A message as the gateway logs it.
    static func sample(
        _ title: String = "Closed", msiKey: ObjectID = ObjectID(), distribution: Distribution = .alert,
        timestamp: UnixMilliseconds = .now, lifetime: Milliseconds = 3_600_000, idempotencyKey: String? = nil,
        topic: TopicKey = .sample, sendAt: UnixMilliseconds? = nil, approval: Bool? = nil,
        _ change: (inout MessageContent) -> Void = { _ in }
    ) -> LogMessage {
        var draft = MessageContent(
            title: title, desc: "\"Quotes\", 🎓, مكتبة", message: "Two\nlines", topicKey: topic, distribution: distribution,
            sendAt: sendAt)
        change(&draft)
        return LogMessage(
            msiKey: msiKey, content: draft,
            timestamp: timestamp, names: CubeNames(channel: "Campus", area: "Library", subject: "Closures"),
            expires: (sendAt ?? timestamp) + lifetime,
            idempotencyKey: idempotencyKey, approval: approval)
    }
}

extension LogPush {
    /// A push as another service logs it.
    static func sample(
        _ key: String = "p", to recipients: [PushRecipient] = [.topic("news")], fairnessKey: String = "people",
        message: JSONValue = ["data": ["a": "b"], "android": ["priority": "HIGH"]], lifetime: Milliseconds = 3_600_000,
        notBefore: UnixMilliseconds? = nil
    ) -> LogPush {
        LogPush(
            idempotencyKey: key, recipients: recipients, fairnessKey: fairnessKey, message: message,
            expires: .now + lifetime, notBefore: notBefore)
    }
}

extension CallerContext {
    /// The caller for whom the gateway sends its commands.
    static let communicator = CallerContext(actor: "Communicator")
    static let ann = CallerContext(actor: "Ann")
}

extension TopicKey {
    static let sample = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
}

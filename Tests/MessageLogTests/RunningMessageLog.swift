import CommandBus
import Schemas
import TestSupport
import Testing
import Time

/// The message log as a process, and a client of it.
struct RunningMessageLog {
    let process: ServiceProcess
    let bus: Bus
    let client: CommandClient
    let endpoint: String
    /// The endpoint of its events.
    let events: String

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
                    RunningMessageLog(process: process, bus: bus, client: client, endpoint: endpoint, events: events))
            }
        }
    }

    func log(_ command: LogMessage) async throws -> Message {
        try await client.request(command, context: .communicator).message
    }

    func message(_ msiKey: ObjectID) async throws -> Message {
        try await client.request(GetMessage(msiKey: msiKey))
    }

    /// Waits until a message's relay record satisfies a condition.
    func wait(
        for msiKey: ObjectID, within limit: Duration = .seconds(20), until condition: (RelayRecord) -> Bool
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

import Bus
import FoundationEssentials
import Base
import Schemas
import Synchronization
import TestSupport

/// A message log on the bus that tells of changes that a test makes up.
final class MessageLogDouble: Sendable {
    private let epoch = ObjectID()
    private let changes = Mutex<[MessageChange]>([])

    /// Adds changes. Their `timestamp` counts them from 1.
    func add(_ count: Int, titled title: String, topic: TopicKey = MessageLogDouble.topic) {
        changes.withLock { changes in
            for _ in 0..<count {
                let draft = MessageContent(title: title, desc: "d", message: "m", topicKey: topic, distribution: .alert)
                let message = Message(
                    msiKey: ObjectID(), content: draft, sender: "Ann",
                    timestamp: UnixMilliseconds(rawValue: Int64(changes.count + 1)),
                    names: CubeNames(channel: "c", area: "a", subject: "s"), expires: .now,
                    relay: RelayRecord(logged: .alert, due: .now))
                changes.append(MessageChange(message, at: .now))
            }
        }
    }

    static let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    /// Runs it at the endpoints that the gateway in the same folder uses.
    ///
    /// - Parameters:
    ///   - instance: What its sockets' names have after the service's name. A further instance needs another one.
    ///   - body: Gets a function that announces the latest change.
    func run<Result>(
        in folder: String, instance: String = "", isolation: isolated (any Actor)? = #isolation,
        _ body: (_ announce: @escaping @Sendable () -> Void) async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter()
            router.on(ReadMessageChanges.self) { command, _ in
                let first = command.after?.epoch == self.epoch ? (command.after?.number ?? 0) + 1 : 1
                return self.changes.withLock { changes in
                    ReadMessageChanges.Reply(
                        epoch: self.epoch, first: first,
                        changes: Array(changes.dropFirst(Int(first) - 1).prefix(Int(command.limit))),
                        latest: Int64(changes.count))
                }
            }
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/message-log\(instance).sock", router: router, logger: quietLogger)
            let publisher = try EventPublisher(
                bus: bus, endpoint: "ipc://\(folder)/run/message-log-events\(instance).sock", logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body {
                let number = Int64(self.changes.withLock(\.count))
                let event = MessageChanged(position: ChangePosition(epoch: self.epoch, number: number))
                if let json = try? JSONCoder.encode(event) { publisher.publish(MessageChanged.name, json) }
            }
        }
    }
}

import Logging
import Archive
import Schemas
import Synchronization
import TestSupport
import Testing
import Base

@testable import MessageLog

/// A relay in the process of the test. It accepts every message, and records the end of the lease of each command.
final class AcceptingRelay: Relay {
    private let asked = Mutex<[ObjectID: [UnixMilliseconds]]>([:])
    private let held: ObjectID?
    let gate = Gate()

    /// - Parameter held: A message that it accepts only after the gate is open.
    init(holding held: ObjectID? = nil) {
        self.held = held
    }

    /// The ends of the leases with which it got a message, one for each command.
    func leaseEnds(of message: Message) -> [UnixMilliseconds] { asked.withLock { $0[message.msiKey] ?? [] } }

    /// How often it was asked to relay a message.
    func count(_ message: Message) -> Int { leaseEnds(of: message).count }

    func relay(_ command: RelayMessage, by end: UnixMilliseconds) async throws(CommandFailure) -> [ComponentOutcome] {
        asked.withLock { $0[command.msiKey, default: []].append(end) }
        if command.msiKey == held { await gate.pass() }
        return command.components.map(\.accepted)
    }

    func relay(
        _ command: RelayPush, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [Result<String, DeliveryError>] {
        Issue.record("there is no push")
        return []
    }
}

/// A relay in the process of the test that refuses every component after its gate was opened.
final class RefusingRelay: Relay {
    private let asked = First()
    let gate = Gate()

    var isAsked: Bool { asked.isTaken }

    func relay(_ command: RelayMessage, by end: UnixMilliseconds) async throws(CommandFailure) -> [ComponentOutcome] {
        _ = asked.take()
        await gate.pass()
        return command.components.map { $0.refused(.permanent, "INVALID_ARGUMENT") }
    }

    func relay(
        _ command: RelayPush, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [Result<String, DeliveryError>] {
        Issue.record("there is no push")
        return []
    }
}

extension Outbox {
    /// An outbox that tells nobody of its changes.
    static func sample(_ store: any MessageStore, _ relay: any Relay, logger: Logger = quietLogger) -> Outbox {
        Outbox(
            store: store, relay: relay, persons: AbsentPersonDirectory(), owner: "me", announcer: OutboxAnnouncer { _ in },
            logger: logger)
    }

    /// Runs a test while it works.
    func run(_ body: () async throws -> Void) async throws {
        let running = Task { try await run() }
        defer { running.cancel() }
        try await body()
        running.cancel()
        _ = await running.result
    }
}

extension Message {
    /// A logged message in the archive.
    ///
    /// - Parameter relay: By default it is due at once.
    static func sample(
        _ command: LogMessage = .sample(distribution: .information), sender: String = "Ann", relay: RelayRecord? = nil
    ) -> Message {
        Message(
            msiKey: command.msiKey, content: command.content, sender: sender, timestamp: command.timestamp, names: command.names,
            expires: command.expires, approval: command.approval,
            relay: relay ?? RelayRecord(logged: command.content.distribution, due: command.timestamp))
    }
}

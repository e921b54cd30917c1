import Bus
import FCM
import Base
import Logging
import Archive
import Schemas
import ServiceContextModule

extension CommandRouter {
    /// The commands about pushes.
    mutating func addPushes(
        store: any MessageStore, outbox: Outbox, disk: DiskWatch, payloadLimit: PayloadLimit, logger: Logger
    ) {
        on(LogPush.self, runs: .busThread) { command, context in
            let sender = try context.requireActor()
            let transport = command.transport ?? .fcm
            guard command.accounts != nil || outbox.transports.contains(PushTransports(transport)) else {
                throw CommandFailure(.invalid, DeliveryError.switchedOff(transport).message, field: "transport")
            }
            let item: OutboxItem
            do {
                item = try OutboxItem(command, sender: sender, limit: payloadLimit)
            } catch {
                // The rules may have changed since the push was stored, such as the limit for topics.
                guard let known = try await store.push(of: sender, idempotencyKey: command.idempotencyKey),
                    known.isResult(of: command)
                else { throw error }
                return LogPush.Reply(push: known)
            }
            var stored = try await disk.admit(item)
            if stored == nil { stored = try await outbox.log(item) }
            return try LogPush.Reply(to: item, stored: stored, logger)
        }
        on(GetPush.self) { command, _ in
            guard let push = try await store.push(command.pushID) else { throw CommandFailure.noPush(command.pushID) }
            return push
        }
        on(ListPushes.self) { command, _ in
            let pushes = try await store.pushes(
                of: command.sender, keyPrefix: command.keyPrefix, after: command.after, limit: command.limit)
            return ListPushes.Reply(
                pushes: pushes.map { PushSummary($0) }, next: pushes.count == command.limit ? pushes.last?.idempotencyKey : nil)
        }
        on(RetryPush.self) { command, context in
            let actor = try context.requireActor()
            guard let push = try await outbox.retry(.push(command.pushID), by: actor)?.push else {
                throw CommandFailure.noPush(command.pushID)
            }
            logger.info("to be tried again", metadata: ["push_id": "\(command.pushID)", "by": "\(actor)"])
            return push
        }
        on(RecallPush.self) { command, context in
            let actor = try context.requireActor()
            guard let push = try await outbox.recall(.push(command.pushID), by: actor)?.push else {
                throw CommandFailure.noPush(command.pushID)
            }
            logger.info("recalled", metadata: ["push_id": "\(command.pushID)", "by": "\(actor)"])
            return push
        }
    }
}

// Not inlined, so that the frame of the command above has no place for each copy of a push that their code makes. Workers keep their
// frames.

extension OutboxItem {
    /// Makes the item of a new push.
    ///
    /// - Throws: ``SchemaViolation`` for a message that FCM would refuse.
    @inline(never)
    fileprivate init(_ command: LogPush, sender: String, limit: PayloadLimit) throws {
        self = .push(try Push(command, sender: sender, limit: limit, now: .now))
    }
}

extension LogPush.Reply {
    /// - Parameters:
    ///   - item: The command's push.
    ///   - stored: What is stored under the same key already, if the command's push was not stored.
    /// - Throws: ``CommandFailure`` with status `conflict` if that is another push.
    @inline(never)
    fileprivate init(to item: OutboxItem, stored: OutboxItem?, _ logger: Logger) throws(CommandFailure) {
        guard case .push(let push) = item else { preconditionFailure("\(item.key) is not a push") }
        guard let known = stored?.push else {
            logger.debug("logged", metadata: ["push_id": "\(push.id)", "recipients": "\(push.relay.recipients.count)"])
            self.init(push: push)
            return
        }
        guard known.isSameCommand(as: push) else {
            throw CommandFailure(
                .conflict, "the idempotency key belongs to push \(known.id), which is another one", field: "idempotency_key")
        }
        self.init(push: known)
    }
}

extension CommandFailure {
    fileprivate static func noPush(_ id: ObjectID) -> CommandFailure {
        CommandFailure(.notFound, "no push \(id)")
    }
}

extension Push {
    /// The document of a push that is about to be stored.
    ///
    /// - Throws: ``SchemaViolation`` for a message that the transport would refuse.
    fileprivate init(_ command: LogPush, sender: String, limit: PayloadLimit, now: UnixMilliseconds) throws {
        if let person = try StoredPersonPush(command) {
            // Such pushes are removed as soon as blocks.
            self.init(
                command, sender: sender, by: .webpush, message: try person.json, urgency: person.push.urgency, now: now)
        } else {
            let transport = command.transport ?? .fcm
            let message = try transport.checked(command, limit: limit)
            self.init(
                command, sender: sender, by: transport, message: message, urgency: transport.urgency(of: message), now: now)
        }
    }

    /// Whether this push is the result of a command, even if the current rules refuse the command.
    fileprivate func isResult(of command: LogPush) -> Bool {
        let transport = command.transport ?? .fcm
        let message = transport.stored(command.message)
        return isSameCommand(
            as: Push(command, sender: sender, by: transport, message: message, urgency: urgency, now: logged))
    }

    /// - Parameter message: In the form in which it is stored.
    private init(
        _ command: LogPush, sender: String, by transport: PushTransport, message: JSONValue, urgency: Urgency,
        now: UnixMilliseconds
    ) {
        self.init(
            sender: sender, idempotencyKey: command.idempotencyKey, transport: transport,
            fairnessKey: command.fairnessKey, message: message, urgency: urgency,
            project: command.project, logged: now, expires: command.expires, notBefore: command.notBefore,
            traceparent: ServiceContext.traceparentToStore,
            relay: PushRecord(
                logged: command.recipients, by: transport, due: max(now, command.notBefore ?? now), expires: command.expires))
        if command.held == true { relay.holdAfterRestore(by: sender, at: now, expires: expires) }
    }
}

// What each transport demands of a push.

extension PushTransport {
    /// The message of a command in the form in which it is stored.
    ///
    /// - Throws: ``SchemaViolation`` for a message that the transport would refuse.
    fileprivate func checked(_ command: LogPush, limit: PayloadLimit) throws -> JSONValue {
        switch self {
        case .fcm: return try FCMRules.checked(command.message, for: command.recipients, limit: limit)
        case .webpush:
            guard command.tokens != nil else {
                throw SchemaViolation(field: "tokens", problem: "missing, expected ids of subscriptions")
            }
            guard command.project == nil else {
                throw SchemaViolation(field: "project", problem: "expected none: only FCM has projects")
            }
            return try WebPushMessage(command.message).json
        }
    }

    /// A message in the form in which it is stored, even if the current rules refuse it.
    fileprivate func stored(_ message: JSONValue) -> JSONValue {
        switch self {
        case .fcm: FCMRules.withSnakeCaseNames(message)
        case .webpush: (try? WebPushMessage(message).json) ?? message
        }
    }

    /// - Parameter message: In the form in which it is stored.
    fileprivate func urgency(of message: JSONValue) -> Urgency {
        switch self {
        case .fcm: FCMRules.urgency(of: message)
        case .webpush: message["urgency"]?.string == WebPushMessage.Urgency.high.rawValue ? .high : .normal
        }
    }
}

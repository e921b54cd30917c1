import CommandBus
import FCM
import JSON
import Logging
import MessageStorage
import Schemas

extension CommandRouter {
    /// The commands about pushes.
    mutating func addPushes(
        store: any MessageStore, outbox: Outbox, storage: StorageWatch, payloadLimit: PayloadLimit, logger: Logger
    ) {
        on(LogPush.self) { command, context in
            let push = try Push(command, sender: try context.requireActor(), limit: payloadLimit, now: .now)
            var stored = try await storage.admit(.push(push))
            if stored == nil { stored = try await outbox.log(.push(push)) }
            if let known = stored?.push {
                guard known.isSameCommand(as: push) else {
                    throw CommandFailure(
                        .conflict, "the idempotency key belongs to push \(known.id), which is another one",
                        field: "idempotency_key")
                }
                return LogPush.Reply(push: known)
            }
            logger.info("logged", metadata: ["push_id": "\(push.id)", "recipients": "\(push.relay.recipients.count)"])
            return LogPush.Reply(push: push)
        }
        on(GetPush.self) { command, _ in
            guard let push = try await store.push(command.pushID) else { throw CommandFailure.noPush(command.pushID) }
            return push
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

extension CommandFailure {
    fileprivate static func noPush(_ id: ObjectID) -> CommandFailure {
        CommandFailure(.notFound, "no push \(id)")
    }
}

extension Push {
    /// The document of a push that is about to be stored.
    ///
    /// - Throws: ``SchemaViolation`` for a message that FCM would refuse.
    fileprivate init(_ command: LogPush, sender: String, limit: PayloadLimit, now: UnixMilliseconds) throws {
        let message: JSONValue
        let urgency: Urgency
        let transport = command.transport ?? .fcm
        switch transport {
        case .fcm:
            message = try FCMRules.checked(command.message, for: command.recipients, limit: limit)
            urgency = FCMRules.urgency(of: message)
        }
        self.init(
            sender: sender, idempotencyKey: command.idempotencyKey, transport: transport,
            fairnessKey: command.fairnessKey, message: message, urgency: urgency, project: command.project, logged: now,
            expires: command.expires, notBefore: command.notBefore,
            relay: PushRecord(logged: command.recipients, due: max(now, command.notBefore ?? now)))
    }
}

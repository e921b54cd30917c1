import CommandBus
import FCM
import JSON
import Logging
import MessageStorage
import Schemas
import ServiceContextModule

extension CommandRouter {
    /// The commands about pushes.
    mutating func addPushes(
        store: any MessageStore, outbox: Outbox, storage: StorageWatch, payloadLimit: PayloadLimit, logger: Logger
    ) {
        on(LogPush.self) { command, context in
            let sender = try context.requireActor()
            let push: Push
            do {
                push = try Push(command, sender: sender, limit: payloadLimit, now: .now)
            } catch {
                // The rules may have changed since the push was stored, such as the limit for topics.
                guard let known = try await store.push(of: sender, idempotencyKey: command.idempotencyKey),
                    known.isResult(of: command)
                else { throw error }
                return LogPush.Reply(push: known)
            }
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
        let message =
            switch command.transport ?? .fcm {
            case .fcm: try FCMRules.checked(command.message, for: command.recipients, limit: limit)
            }
        self.init(command, sender: sender, message: message, now: now)
    }

    /// Whether this push is the result of a command, also if today's rules refuse the command.
    fileprivate func isResult(of command: LogPush) -> Bool {
        let message =
            switch command.transport ?? .fcm {
            case .fcm: FCMRules.withSnakeCaseNames(command.message)
            }
        return isSameCommand(as: Push(command, sender: sender, message: message, now: logged))
    }

    /// - Parameter message: The transport's message in the form in which it is stored.
    private init(_ command: LogPush, sender: String, message: JSONValue, now: UnixMilliseconds) {
        let transport = command.transport ?? .fcm
        let urgency =
            switch transport {
            case .fcm: FCMRules.urgency(of: message)
            }
        self.init(
            sender: sender, idempotencyKey: command.idempotencyKey, transport: transport,
            fairnessKey: command.fairnessKey, message: message, urgency: urgency, project: command.project, logged: now,
            expires: command.expires, notBefore: command.notBefore, traceparent: ServiceContext.traceparentToStore,
            relay: PushRecord(logged: command.recipients, due: max(now, command.notBefore ?? now)))
        if command.held == true { relay.holdAfterRestore(by: sender, at: now, expires: expires) }
    }
}

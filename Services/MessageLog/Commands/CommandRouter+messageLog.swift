import CommandBus
import FCM
import Logging
import MessageStorage
import Schemas
import ServiceKit

extension CommandRouter {
    /// The commands of the message-logging service.
    static func messageLog(
        store: any MessageStore, outbox: Outbox, storage: StorageWatch, relays: RelayHealth, payloadLimit: PayloadLimit,
        logger: Logger
    ) -> CommandRouter {
        var router = CommandRouter(checkHealth: { try await store.check() }, parts: { await relays.parts() })
        router.on(LogMessage.self) { command, context in
            let message = Message(command, sender: try context.requireActor(), now: .now)
            var stored = try await storage.admit(.message(message))
            if stored == nil { stored = try await outbox.log(.message(message)) }
            let known = stored?.message
            if let known, known.msiKey == command.msiKey, known.draft != command.draft {
                throw CommandFailure(.conflict, "msi_key \(command.msiKey) belongs to another message", field: "msi_key")
            }
            if known == nil {
                logger.info("logged", metadata: ["msi_key": "\(message.msiKey)", "topic_key": "\(message.topicKey)"])
            }
            return LogMessage.Reply(message: known ?? message)
        }
        router.on(GetMessage.self) { command, _ in
            guard let message = try await store.message(command.msiKey) else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            return message
        }
        router.on(FindMessage.self) { command, context in
            let sender = try context.requireActor()
            guard let message = try await store.message(of: sender, idempotencyKey: command.idempotencyKey) else {
                throw CommandFailure(.notFound, "no message with this idempotency key")
            }
            return message
        }
        router.on(ListMessages.self) { command, context in
            // One more than the page, to know whether there is another page.
            var messages = try await store.page(
                command.filter, before: command.before, limit: Int(command.limit) + 1, checkStillWanted: context.checkStillWanted)
            guard messages.count > command.limit else { return ListMessages.Reply(messages: messages, next: nil) }
            messages.removeLast()
            let next = messages.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) }
            return ListMessages.Reply(messages: messages, next: next)
        }
        router.on(RetryMessage.self) { command, context in
            let actor = try context.requireActor()
            guard let message = try await outbox.retry(.message(command.msiKey), by: actor)?.message else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            logger.info("to be tried again", metadata: ["msi_key": "\(command.msiKey)", "by": "\(actor)"])
            return message
        }
        router.on(RecallMessage.self) { command, context in
            let actor = try context.requireActor()
            guard let message = try await outbox.recall(.message(command.msiKey), by: actor)?.message else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            logger.info("recalled", metadata: ["msi_key": "\(command.msiKey)", "by": "\(actor)"])
            return message
        }
        router.addPushes(store: store, outbox: outbox, storage: storage, payloadLimit: payloadLimit, logger: logger)
        return router
    }
}

extension Message {
    /// Makes the document of a new message.
    fileprivate init(_ command: LogMessage, sender: String, now: UnixMilliseconds) {
        self.init(
            msiKey: command.msiKey, draft: command.draft, sender: sender, timestamp: command.timestamp,
            names: command.names, expires: command.expires, idempotencyKey: command.idempotencyKey,
            relay: RelayRecord(logged: command.draft.distribution, due: max(now, command.draft.sendAt ?? now)))
    }
}

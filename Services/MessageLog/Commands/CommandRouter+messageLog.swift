import AuditTrail
import CommandBus
import FCM
import Logging
import MessageStorage
import Schemas
import ServiceContextModule
import ServiceKit
import Storage
import StoredResources
import MongoDatabase
import Time

extension CommandRouter {
    /// The commands of the message-logging service.
    static func messageLog(
        store: any MessageStore, templates: Storage, outbox: Outbox, changes: MessageChanges, storage: StorageWatch,
        relays: RelayHealth, audits: [AuditForwarder],
        payloadLimit: PayloadLimit, alertFetchDelay: LiveSetting<Seconds>, logger: Logger
    ) -> CommandRouter {
        var router = CommandRouter(
            stores: [store],
            parts: {
                async let relays = relays.parts()
                // Messages are accepted without the templates.
                let ownTemplates = await ["templates": templates.health()].filter { !$0.value.isWell }
                let own = storage.health.merging(ownTemplates) { $1 }
                return await audits.reduce(into: relays.merging(own) { $1 }) { $0.merge($1.health) { $1 } }
            })
        // A message, a retry and corrections of it go one after another.
        let places = KeyedLock<ObjectID>()
        router.on(LogMessage.self) { command, context in
            let message = Message(command, sender: try context.requireActor(), now: .now)
            var stored = try await storage.admit(.message(message))
            if stored == nil { stored = try await store.requireFollowed(by: message) }
            if stored == nil {
                stored = try await places.take(message.draft.corrects ?? message.msiKey) {
                    if let known = try await store.requirePlace(of: message) { return known }
                    return try await outbox.log(.message(message), from: context.address)
                }
            }
            let known = stored?.message
            if let known, known.msiKey == command.msiKey, known.draft != command.draft.marked {
                throw CommandFailure(.conflict, "msi_key \(command.msiKey) belongs to another message", field: "msi_key")
            }
            if known == nil {
                logger.info(
                    message.relay.state == .held ? "held" : "logged",
                    metadata: ["msi_key": "\(message.msiKey)", "topic_key": "\(message.topicKey)"])
            }
            return LogMessage.Reply(message: known ?? message)
        }
        router.on(GetMessage.self) { command, _ in
            guard let message = try await store.message(command.msiKey) else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            return try await store.withRelated([message])[0]
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
            var next: PageCursor?
            if messages.count > command.limit {
                messages.removeLast()
                next = messages.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) }
            }
            return ListMessages.Reply(messages: try await store.withRelated(messages), next: next)
        }
        let fetchable = FetchableAlertsReader {
            try await FetchableAlerts(in: store, after: alertFetchDelay.value, now: .now)
        }
        router.on(ReadAccepted.self) { command, context in
            let alerts = try await fetchable.alerts().of(command.topics)
            return try await store.read(
                command, in: outbox.acceptances, now: .now, checkStillWanted: context.checkStillWanted
            ).with(alerts)
        }
        router.on(FollowAccepted.self) { command, context in
            let alerts = try await fetchable.alerts()
            return try await store.read(
                command, in: outbox.acceptances, now: .now, checkStillWanted: context.checkStillWanted
            ).with(alerts)
        }
        let receipts = ReceiptBook(store: store)
        router.on(AddReceipts.self) { command, _ in
            try storage.requireRoom()
            try await receipts.add(command)
            return Done()
        }
        router.on(CountMessages.self) { command, context in
            var statistics = try await store.statistics(command, now: .now, checkStillWanted: context.checkStillWanted)
            if let oldest = statistics.oldestWaiting {
                statistics.oldestWaiting = try await store.withRelated([oldest])[0]
            }
            return statistics
        }
        router.on(ReadMessageChanges.self) { command, _ in changes.read(command) }
        router.on(RetryMessage.self) { command, context in
            let actor = try context.requireActor()
            let place = try await store.message(command.msiKey)?.draft.corrects ?? command.msiKey
            let retried = try await places.take(place) {
                try await store.requireNotCorrected(command.msiKey)
                return try await outbox.retry(.message(command.msiKey), by: actor, from: context.address)
            }
            guard let message = retried?.message else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            logger.info("to be tried again", metadata: ["msi_key": "\(command.msiKey)", "by": "\(actor)"])
            return await store.withRelated(message)
        }
        router.on(RecallMessage.self) { command, context in
            let actor = try context.requireActor()
            guard let message = try await outbox.recall(.message(command.msiKey), by: actor, from: context.address)?.message
            else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            logger.info("recalled", metadata: ["msi_key": "\(command.msiKey)", "by": "\(actor)"])
            return await store.withRelated(message)
        }
        router.on(ApproveMessage.self) { command, context in
            let actor = try context.requireActor()
            guard let message = try await outbox.approve(command.msiKey, by: actor, from: context.address) else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            logger.info("approved", metadata: ["msi_key": "\(command.msiKey)", "by": "\(actor)"])
            return await store.withRelated(message)
        }
        router.serve(MessageTemplate.self, from: templates)
        router.addHeld(store: store, outbox: outbox, logger: logger)
        router.addPushes(store: store, outbox: outbox, storage: storage, payloadLimit: payloadLimit, logger: logger)
        return router
    }
}

extension Message {
    /// Makes the document of a new message.
    fileprivate init(_ command: LogMessage, sender: String, now: UnixMilliseconds) {
        let draft = command.draft.marked
        self.init(
            msiKey: command.msiKey, draft: draft, sender: sender, timestamp: command.timestamp,
            names: command.names, expires: command.expires, idempotencyKey: command.idempotencyKey,
            approval: command.approval == true ? true : nil, relay: RelayRecord(held: draft.distribution, until: command.expires))
        traceparent = ServiceContext.traceparentToStore
        guard approval == nil else { return }
        relay = RelayRecord(logged: draft.distribution, due: max(now, notBefore(at: now) ?? now))
    }
}

import AuditTrail
import Bus
import FCM
import Logging
import Archive
import Schemas
import ServiceContextModule
import ServiceKit
import Store
import Base

extension CommandRouter {
    /// The commands of the message-logging service.
    static func messageLog(
        store: any MessageStore, templates: Storage, outbox: Outbox, changes: MessageChanges, disk: DiskWatch,
        relays: [RelayHealth], audits: [AuditForwarder],
        payloadLimit: PayloadLimit, alertFetchDelay: LiveSetting<Seconds>, logger: Logger
    ) -> CommandRouter {
        var router = CommandRouter(
            stores: [store],
            parts: {
                async let relays = relays.parts()
                // Messages are accepted without the templates.
                let ownTemplates = await ["templates": templates.health()].filter { !$0.value.isWell }
                let own = disk.health.merging(ownTemplates) { $1 }
                return await audits.reduce(into: relays.merging(own) { $1 }) { $0.merge($1.health) { $1 } }
            })
        // A retry of a message and corrections of it go one after another.
        let places = KeyedLock<ObjectID>()
        router.on(LogMessage.self, runs: .busThread) { command, context in
            let item = OutboxItem(command, sender: try context.requireActor(), transports: outbox.transports)
            var stored = try await disk.admit(item)
            if stored == nil, item.follows != nil { stored = try await store.requireFollowed(by: item) }
            if stored == nil {
                if let corrected = item.corrects {
                    stored = try await places.take(corrected) {
                        if let known = try await store.requirePlace(of: item) { return known }
                        return try await outbox.log(item, from: context.address)
                    }
                } else {
                    stored = try await outbox.log(item, from: context.address)
                }
            }
            if stored == nil { logger.reportLogged(item) }
            return try LogMessage.Reply(to: command, stored: stored)
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
        let receipts = ReceiptBatcher(store: store)
        router.on(AddReceipts.self) { command, _ in
            try disk.requireRoom()
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
        router.on(ReadReach.self) { command, context in
            let reach = try await store.reach(of: command.topicKey, now: .now, checkStillWanted: context.checkStillWanted)
            // Portals ask for it before they post.
            outbox.reaches.keep(reach.counted?.received ?? 0, of: command.topicKey)
            return reach
        }
        router.on(ReadMessageChanges.self) { command, _ in changes.read(command) }
        router.on(RetryMessage.self) { command, context in
            let actor = try context.requireActor()
            let place = try await store.message(command.msiKey)?.corrects ?? command.msiKey
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
            let recalled = try await outbox.recall(
                .message(command.msiKey), by: actor, reason: command.reason, from: context.address)
            guard let message = recalled?.message else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            logger.info("recalled", metadata: ["msi_key": "\(command.msiKey)", "by": "\(actor)"])
            return await store.withRelated(message)
        }
        router.on(EditMessage.self) { command, context in
            let actor = try context.requireActor()
            try disk.requireRoom()
            guard let message = try await outbox.edit(command, by: actor, from: context.address) else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            logger.info("edited", metadata: ["msi_key": "\(command.msiKey)", "by": "\(actor)"])
            return await store.withRelated(message)
        }
        router.on(ApproveMessage.self) { command, context in
            let actor = try context.requireActor()
            let approved = try await outbox.approve(
                command.msiKey, by: actor, seen: command.edited ?? 0, from: context.address)
            guard let message = approved else {
                throw CommandFailure(.notFound, "no message \(command.msiKey)")
            }
            logger.info("approved", metadata: ["msi_key": "\(command.msiKey)", "by": "\(actor)"])
            return await store.withRelated(message)
        }
        router.serve(MessageTemplate.self, from: templates)
        router.addHeld(store: store, outbox: outbox, logger: logger)
        router.addPushes(store: store, outbox: outbox, disk: disk, payloadLimit: payloadLimit, logger: logger)
        router.addPersons(store: store, outbox: outbox, logger: logger)
        return router
    }
}

// Not inlined: an async function's frame has a place for each copy of a message that its code makes. Workers keep their frames, and with
// all copies that of the command above had 32 KB.

extension OutboxItem {
    /// Makes the item of a new message.
    @inline(never)
    fileprivate init(_ command: LogMessage, sender: String, transports: PushTransports) {
        self = .message(Message(command, sender: sender, transports: transports, now: .now))
    }
}

extension LogMessage.Reply {
    /// - Parameter stored: What is stored under the command's keys already, if it was not stored by this command.
    /// - Throws: ``CommandFailure`` with status `conflict` if that is another message.
    @inline(never)
    fileprivate init(to command: LogMessage, stored: OutboxItem?) throws(CommandFailure) {
        let known = stored?.message
        if let known, known.msiKey == command.msiKey, known.content != command.content.marked, known.relay.edited == nil {
            throw CommandFailure(.conflict, "msi_key \(command.msiKey) belongs to another message", field: "msi_key")
        }
        self.init(known: known)
    }
}

extension Logger {
    @inline(never)
    fileprivate func reportLogged(_ item: OutboxItem) {
        guard logLevel <= .debug, let message = item.message else { return }
        debug(
            message.relay.state == .held ? "held" : "logged",
            metadata: ["msi_key": "\(message.msiKey)", "topic_key": "\(message.topicKey)"])
    }
}

extension Message {
    /// Makes the document of a new message.
    fileprivate init(_ command: LogMessage, sender: String, transports: PushTransports, now: UnixMilliseconds) {
        let content = command.content.marked
        self.init(
            msiKey: command.msiKey, content: content, sender: sender, timestamp: command.timestamp,
            names: command.names, expires: command.expires, idempotencyKey: command.idempotencyKey,
            approval: command.approval == true ? true : nil, traceparent: ServiceContext.traceparentToStore,
            relay: RelayRecord(held: content.distribution, by: transports, until: command.expires))
        guard approval == nil else { return }
        relay = RelayRecord(
            logged: content.distribution, by: transports, due: max(now, notBefore(at: now) ?? now), expires: command.expires)
    }
}

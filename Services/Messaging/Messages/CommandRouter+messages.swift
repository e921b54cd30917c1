import Bus
import Schemas
import ServiceKit
import Store

extension CommandRouter {
    /// The commands about messages between persons.
    mutating func serveMessages(_ messaging: Messaging) {
        on(SendDirectMessage.self) { command, context in
            messaging.calls.count("sendMessage")
            return try await messaging.send(command, for: context)
        }
        on(ReadMessageNews.self) { command, context in
            messaging.calls.count("getMessage")
            return try await messaging.news(command, for: context)
        }
        on(ConfirmMessages.self) { command, context in
            messaging.calls.count("others")
            try await messaging.confirm(command, for: context)
            return Done()
        }
        on(MarkMessagesRead.self) { command, context in
            messaging.calls.count("others")
            let account = try context.requirePerson()
            try await messaging.changes.make(by: context) { change in try change.markRead(upTo: command.message, by: account) }
            return Done()
        }
        on(ListConversation.self) { command, context in
            messaging.calls.count("others")
            return try await messaging.list(command, for: context)
        }
    }
}

extension Messaging {
    fileprivate func send(_ command: SendDirectMessage, for context: CommandContext) async throws -> DirectMessage {
        let sender = try context.requirePerson()
        let recipient = command.draft.to
        let digest = try await digests.digest()
        if command.requestKey != nil {
            let known = try await changes.store.snapshot { try $0.repeatedMessage(command, by: sender, digest) }
            // A repetition is no further message.
            if let known {
                SendOutcome.repeated.count()
                return known
            }
        }
        do throws(CommandFailure) {
            try sends.count(sender, max: changes.rules().perMinute, "sent messages or set statuses")
        } catch {
            SendOutcome.limited.count()
            throw error
        }
        do {
            guard let relation = try await relations.check([recipient], by: sender)[recipient],
                relation.state.allows(classmate: command.classmate == true)
            else {
                SendOutcome.refused.count()
                throw CommandFailure.noRecipient(recipient)
            }
            // The people service may have taken long to say it.
            try context.checkStillWanted()
            let sent = try await changes.make(by: context) { change in
                try change.send(command, by: sender, to: relation, digest)
            }
            SendOutcome.sent.count()
            return sent
        } catch {
            // It was counted before, so that many at once are not more than the limit.
            sends.uncount(sender)
            throw error
        }
    }

    fileprivate func news(_ command: ReadMessageNews, for context: CommandContext) async throws -> MessageNews {
        let account = try context.requirePerson()
        try restored.requireLook()
        let device = try await changes.store.get(command.device, from: MessagingStore.devices)?.document
        if device?.account != account.key || device?.isOutdated(at: changes.now()) != false {
            // Before the look, so that what comes from now on waits for the device.
            _ = try await changes.make(by: context) { change in try change.keepDevice(command.device, of: account) }
        }
        let page = try await changes.store.snapshot { try $0.news(command, for: account) }
        if page.isEmpty {
            try limitPoll(command, page)
        } else {
            FetchOutcome.news.count()
        }
        let peers = page.peers(of: account.key)
        let relations = try await relations.check(Array(peers.keys), by: account)
        let parted = Set(peers.filter { relations[$0.key]?.state.parts(classmate: $0.value) ?? true }.keys)
        for peer in parted { try await removal.part(account, peer, upTo: page.last(with: peer, for: account.key)) }
        return page.view(for: account.key, without: parted, at: changes.now())
    }

    /// - Throws: ``CommandFailure`` with `overloaded` for a fetch that has found nothing, follows nothing and comes too early.
    private func limitPoll(_ command: ReadMessageNews, _ page: NewsPage) throws(CommandFailure) {
        if page.isPrompted, let message = command.prompt, polls.follow(message, on: command.device) {
            return FetchOutcome.prompted.count()
        }
        do throws(CommandFailure) {
            try polls.poll(command.device, .messages, every: changes.rules().poll)
        } catch {
            FetchOutcome.limited.count()
            throw error
        }
        FetchOutcome.poll.count()
    }

    fileprivate func confirm(_ command: ConfirmMessages, for context: CommandContext) async throws {
        let account = try context.requirePerson()
        var receipt = Receipt()
        repeat {
            let part = try await changes.make(by: context) { change in
                try change.receive(upTo: command.after, on: command.device, by: account)
            }
            receipt.add(part)
        } while receipt.more
        // After the commit: whatever was read before it is found here, and what is read later finds what the device has.
        let read = try await changes.store.snapshot { [receipt] in try $0.read(of: receipt, by: account) }
        guard !read.isEmpty else { return }
        try await changes.make(by: context) { change in try change.lookAtRead(read) }
    }

    fileprivate func list(_ command: ListConversation, for context: CommandContext) async throws -> ConversationPage {
        let account = try context.requirePerson()
        try restored.requireLook()
        let found = try await changes.store.snapshot { try $0.conversation(command, of: account) }
        guard let relation = try await relations.check([command.account], by: account)[command.account],
            !relation.state.parts(classmate: found?.isOfClassmates == true)
        else {
            if let found { try await removal.part(account, command.account, upTo: found.view.last) }
            throw CommandFailure(.notFound, "no conversation with \(command.account)")
        }
        return ConversationPage(
            messages: found?.messages ?? [], conversation: found?.view ?? Conversation(with: relation.account),
            next: found?.next, now: changes.now())
    }
}

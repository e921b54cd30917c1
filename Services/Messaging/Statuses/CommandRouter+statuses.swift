import Bus
import Schemas
import ServiceKit
import Store

extension CommandRouter {
    /// The commands about statuses.
    mutating func serveStatuses(_ messaging: Messaging) {
        let changes = messaging.changes
        on(SetStatus.self) { command, context in
            let account = try context.requirePerson()
            messaging.calls.count("sendStatus")
            let now = changes.now()
            let known = try await changes.store.snapshot { try $0.repeatedStatus(command, of: account, at: now) }
            // A repetition is no further status.
            if let known {
                SendOutcome.repeated.count()
                return known.own
            }
            do throws(CommandFailure) {
                try messaging.sends.count(account, max: changes.rules().perMinute, "sent messages or set statuses")
            } catch {
                SendOutcome.limited.count()
                throw error
            }
            do {
                let status = try await changes.make(by: context) { change in try change.setStatus(command, of: account) }
                SendOutcome.sent.count()
                return status.own
            } catch {
                messaging.sends.uncount(account)
                throw error
            }
        }
        on(ListStatuses.self) { command, context in
            let account = try context.requirePerson()
            messaging.calls.count("getStatus")
            try messaging.polls.poll(command.device, .statuses, every: changes.rules().poll)
            let friends = try await messaging.relations.friends(of: account)
            let now = changes.now()
            return try await changes.store.snapshot { try $0.statuses(of: friends, for: account, at: now) }
        }
        on(ReadOwnStatus.self) { _, context in
            let account = try context.requirePerson()
            messaging.calls.count("others")
            let now = changes.now()
            let status = try await changes.store.snapshot { try $0.status(of: account.key, at: now) }
            return ReadOwnStatus.Reply(status: status?.own, now: now)
        }
        on(RemoveStatus.self) { _, context in
            let account = try context.requirePerson()
            messaging.calls.count("others")
            try await changes.make(by: context) { change in try change.removeStatus(of: account.key) }
            return Done()
        }
        on(MarkStatusesSeen.self) { command, context in
            let account = try context.requirePerson()
            messaging.calls.count("others")
            let seen = try await messaging.friends(with: command.seen.statuses, for: account)
            guard !seen.isEmpty else { return Done() }
            try await changes.make(by: context) { change in try change.see(seen, as: account) }
            return Done()
        }
    }
}

extension Messaging {
    /// Which statuses are of friends of a person: the accounts in lower case, with the ids.
    fileprivate func friends(
        with statuses: [ObjectID], for person: AccountName
    ) async throws -> [(account: String, id: ObjectID)] {
        let now = changes.now()
        let found = try await changes.store.snapshot { transaction in
            try Set(statuses).compactMap { try transaction.status($0, at: now) }
        }
        let others = found.filter { $0.id != person.key }
        guard !others.isEmpty else { return [] }
        let relations = try await relations.check(others.map(\.name), by: person)
        return others.filter { relations[$0.name]?.state == .friends }.map { (account: $0.id, id: $0.status) }
    }
}

import Bus
import Logging
import Archive
import Schemas

extension CommandRouter {
    /// The commands about what is held since a restore.
    mutating func addHeld(store: any MessageStore, outbox: Outbox, logger: Logger) {
        on(ListHeld.self) { command, _ in
            let all = try await store.heldByRestore()
            let rest = all.drop { item in command.after.map { item.key <= $0 } ?? false }
            let page = Array(rest.prefix(command.limit))
            return ListHeld.Reply(items: page, count: all.count, next: rest.count > page.count ? page.last?.key : nil)
        }
        on(ReleaseHeld.self) { command, context in
            let actor = try context.requireActor()
            return try await change(command.keys, "released after a restore", by: actor, logger: logger) { key in
                try await outbox.release(key, by: actor, from: context.address)
            }
        }
        on(DiscardHeld.self) { command, context in
            let actor = try context.requireActor()
            return try await change(command.keys, "discarded after a restore", by: actor, logger: logger) { key in
                try await outbox.discard(key, by: actor, from: context.address)
            }
        }
    }
}

/// Changes items one by one. What one of them refuses does not stop the others.
///
/// - Parameter change: Returns `nil` if there is no such item.
/// - Throws: ``CommandFailure`` if the database does not answer. The items before the failure have been changed and are no longer held.
private func change(
    _ keys: [ObjectID], _ what: Logger.Message, by actor: String, logger: Logger,
    _ change: (OutboxKey) async throws -> OutboxItem?
) async throws -> HeldOutcome {
    var outcome = HeldOutcome()
    for key in keys {
        do throws(CommandFailure) {
            guard try await changed(key, change) != nil else { throw CommandFailure(.notFound, "no message or push \(key)") }
            outcome.done.append(key)
            logger.info(what, metadata: ["key": "\(key)", "by": "\(actor)"])
        } catch {
            guard error.status == .conflict || error.status == .notFound else { throw error }
            outcome.refused.append(.init(key: key, status: error.status, message: error.message))
        }
    }
    return outcome
}

private func changed(
    _ key: ObjectID, _ change: (OutboxKey) async throws -> OutboxItem?
) async throws(CommandFailure) -> OutboxItem? {
    do {
        if let message = try await change(.message(key)) { return message }
        return try await change(.push(key))
    } catch let failure as CommandFailure {
        throw failure
    } catch {
        throw CommandFailure(.internal, "\(error)")
    }
}

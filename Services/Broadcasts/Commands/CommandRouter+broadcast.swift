import CommandBus
import Schemas
import Storage

extension CommandRouter {
    /// The commands of the broadcast service.
    ///
    /// - Parameter parts: The states of the service's dependencies.
    static func broadcast(
        _ log: BroadcastLog, outcomes: PushOutcomes, parts: @escaping @Sendable () -> [String: PartHealth]
    ) -> CommandRouter {
        var router = CommandRouter(stores: [log.store], parts: { parts() })
        router.on(AddBroadcast.self) { command, context in
            try await log.add(command, sender: try context.requireActor(), by: context.author)
        }
        router.on(UpdateBroadcast.self) { try await log.update($0, by: $1.author) }
        router.on(WithdrawBroadcast.self) { try await log.withdraw($0, by: $1.author) }
        router.on(GetBroadcast.self) { command, _ in await outcomes.add(to: try await log.stored(command.id)) }
        router.on(ListBroadcasts.self) { command, _ in try await log.page(command) }
        router.on(ReadCurrentBroadcasts.self) { _, _ in try await log.current() }
        return router
    }
}

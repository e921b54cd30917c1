import CommandBus
import Schemas

extension CommandRouter {
    /// The commands of the FCM relay.
    static func relay(_ handler: RelayHandler) -> CommandRouter {
        var router = CommandRouter()
        router.on(RelayMessage.self) { command, context in await handler.relay(command, context) }
        return router
    }
}

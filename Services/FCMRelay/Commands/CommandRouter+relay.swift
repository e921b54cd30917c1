import CommandBus
import Schemas

extension CommandRouter {
    /// The commands of the FCM relay.
    static func relay(_ messages: RelayHandler, _ pushes: PushHandler, _ topics: TopicHandler) -> CommandRouter {
        var router = CommandRouter(parts: { messages.projects.health })
        router.on(RelayMessage.self, runs: .busThread) { command, context in try await messages.relay(command, context) }
        router.on(RelayPush.self) { command, context in try await pushes.relay(command, context) }
        router.on(SubscribePhones.self) { try await topics.perform(.subscribe, $0.phones, $1) }
        router.on(UnsubscribePhones.self) { try await topics.perform(.unsubscribe, $0.phones, $1) }
        router.on(ListTopics.self) { try await topics.list($0, $1) }
        router.on(WithdrawSends.self) { command, _ in
            WithdrawSends.Reply(withdrawn: topics.projects.all.reduce(0) { $0 + $1.messageGate.pacer.withdraw(command.key) })
        }
        router.on(ReadPace.self) { _, _ in RelayPace(projects: topics.projects.all.map(\.pace)) }
        return router
    }
}

import Base
import Bus
import Schemas
import Synchronization
import TestSupport

/// A Web Push service on the bus with a test's own answers. It records the commands that it gets.
final class WebPushDouble: Sendable {
    private let messages = Mutex<[ObjectID]>([])
    private let blocks = Mutex<[RelayPush]>([])
    private let behaviour: @Sendable (FanOutMessage) async throws -> Int
    private let pushBehaviour: @Sendable (RelayPush) async throws -> [Result<String, DeliveryError>]

    /// - Parameters:
    ///   - behaviour: Its answer to a message; by default three subscriptions get a push.
    ///   - pushes: Its answer to a block; by default push services accept all.
    init(
        _ behaviour: @escaping @Sendable (FanOutMessage) async throws -> Int = { _ in 3 },
        pushes: @escaping @Sendable (RelayPush) async throws -> [Result<String, DeliveryError>] = {
            $0.recipients.map { .success("https://push.example/\($0.text)") }
        }
    ) {
        self.behaviour = behaviour
        pushBehaviour = pushes
    }

    /// How often it got a message.
    func count(_ msiKey: ObjectID) -> Int { messages.withLock { $0.count { $0 == msiKey } } }

    /// The blocks that it got, in order.
    var asked: [RelayPush] { blocks.withLock(\.self) }

    /// Runs it at the endpoint that the message log in the same folder uses.
    func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter(parts: { [:] })
            router.on(FanOutMessage.self) { command, _ in
                self.messages.withLock { $0.append(command.msiKey) }
                return FanOutMessage.Reply(subscriptions: try await self.behaviour(command))
            }
            router.on(RelayPush.self) { command, _ in
                self.blocks.withLock { $0.append(command) }
                return RelayPush.Reply(results: try await self.pushBehaviour(command).map(SendResult.init))
            }
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/webpush.sock", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }

    /// The settings with which a message log uses it.
    static let settings = ["MSI_WEBPUSH_CONTACT": "mailto:hub@example.org"]
}

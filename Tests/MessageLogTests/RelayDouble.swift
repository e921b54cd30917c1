import CommandBus
import Schemas
import Synchronization
import TestSupport
import Time

/// A relay on the bus that answers as a test says, and remembers what it was asked.
final class RelayDouble: Sendable {
    typealias Behaviour = @Sendable (RelayMessage) async throws -> [ComponentOutcome]
    typealias PushBehaviour = @Sendable (RelayPush) async throws -> [Result<String, ComponentError>]

    private let commands = Mutex<[RelayMessage]>([])
    private let pushCommands = Mutex<[RelayPush]>([])
    private let behaviour: Behaviour
    private let pushBehaviour: PushBehaviour
    private let parts: [String: PartHealth]

    /// - Parameters:
    ///   - parts: What it says of itself.
    ///   - pushes: What it answers to pushes; without it, it accepts them for every recipient.
    init(
        parts: [String: PartHealth] = [:], _ behaviour: @escaping Behaviour = { $0.components.map(\.accepted) },
        pushes: @escaping PushBehaviour = { $0.recipients.map { .success("n-\($0.text)") } }
    ) {
        self.parts = parts
        self.behaviour = behaviour
        pushBehaviour = pushes
    }

    /// Runs it where the message log in the same folder looks for a relay.
    func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter(parts: { [parts] in parts })
            router.on(RelayMessage.self) { command, _ in
                self.commands.withLock { $0.append(command) }
                return RelayMessage.Reply(components: try await self.behaviour(command))
            }
            router.on(RelayPush.self) { command, _ in
                self.pushCommands.withLock { $0.append(command) }
                return RelayPush.Reply(results: try await self.pushBehaviour(command).map(SendResult.init))
            }
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/fcm-relay.sock", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }

    /// Everything that it was asked, in order.
    var asked: [RelayMessage] { commands.withLock { $0 } }

    /// The pushes that it was asked to relay, in order.
    var askedPushes: [RelayPush] { pushCommands.withLock(\.self) }

    /// What it was asked to relay of a message, in order.
    func asked(_ msiKey: ObjectID) -> [[Component]] {
        commands.withLock { $0.filter { $0.msiKey == msiKey }.map(\.components) }
    }
}

extension Component {
    var accepted: ComponentOutcome { ComponentOutcome(component: self, result: .success("projects/p/messages/\(rawValue)")) }

    func refused(
        _ class: ErrorClass, _ code: String, retryAfter: Milliseconds? = nil
    ) -> ComponentOutcome {
        ComponentOutcome(
            component: self,
            result: .failure(ComponentError(class: `class`, code: code, message: "as the test says", retryAfter: retryAfter)))
    }
}

/// Something that a relay waits for.
final class Gate: Sendable {
    private let opened = AsyncStream<Void>.makeStream()

    func open() {
        opened.continuation.finish()
    }

    /// Returns once the gate is open, for one who waits.
    func pass() async {
        for await _ in opened.stream {}
    }
}

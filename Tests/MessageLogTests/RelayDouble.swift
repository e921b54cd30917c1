import CommandBus
import Schemas
import Synchronization
import TestSupport

/// A relay on the bus that answers as a test says, and remembers what it was asked.
final class RelayDouble: Sendable {
    typealias Behaviour = @Sendable (RelayMessage) async throws -> [ComponentOutcome]

    private let commands = Mutex<[RelayMessage]>([])
    private let behaviour: Behaviour
    private let parts: [String: PartHealth]

    /// - Parameter parts: What it says of itself.
    init(parts: [String: PartHealth] = [:], _ behaviour: @escaping Behaviour = { $0.components.map(\.accepted) }) {
        self.parts = parts
        self.behaviour = behaviour
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
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/fcm-relay.sock", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }

    /// Everything that it was asked, in order.
    var asked: [RelayMessage] { commands.withLock { $0 } }

    /// What it was asked to relay of a message, in order.
    func asked(_ msiKey: ObjectID) -> [[Component]] {
        commands.withLock { $0.filter { $0.msiKey == msiKey }.map(\.components) }
    }
}

extension Component {
    var accepted: ComponentOutcome { ComponentOutcome(component: self, result: .success("projects/p/messages/\(rawValue)")) }

    func refused(
        _ class: ErrorClass, _ code: String, retryAfter: Int64? = nil
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

import Bus
import Schemas
import Synchronization
import TestSupport
import Base

@testable import MessageLog

/// A relay on the bus with a test's own answers. It records the commands that it gets.
final class RelayDouble: Sendable {
    typealias Behaviour = @Sendable (RelayMessage) async throws -> [ComponentOutcome]
    typealias PushBehaviour = @Sendable (RelayPush) async throws -> [Result<String, DeliveryError>]

    private let commands = Mutex<[RelayMessage]>([])
    private let traceparents = Mutex<[Traceparent?]>([])
    private let pushCommands = Mutex<[RelayPush]>([])
    private let behaviour: Behaviour
    private let pushBehaviour: PushBehaviour
    private let withdraw: @Sendable (ObjectID) -> Int
    private let parts: [String: PartHealth]

    /// - Parameters:
    ///   - parts: Its dependencies for `bus.health`.
    ///   - pushes: Its answer to a push; by default it accepts the push for every recipient.
    ///   - withdraw: How many commands about a key it withdraws.
    init(
        parts: [String: PartHealth] = [:], _ behaviour: @escaping Behaviour = { $0.components.map(\.accepted) },
        pushes: @escaping PushBehaviour = { $0.recipients.map { .success("n-\($0.text)") } },
        withdraw: @escaping @Sendable (ObjectID) -> Int = { _ in 0 }
    ) {
        self.withdraw = withdraw
        self.parts = parts
        self.behaviour = behaviour
        pushBehaviour = pushes
    }

    /// Runs it at the endpoint that the message log in the same folder uses.
    ///
    /// - Parameter name: The name of its socket. A further instance needs another one.
    func run<Result>(
        in folder: String, named name: String = "fcm-relay", isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            var router = CommandRouter(parts: { [parts] in parts })
            router.on(RelayMessage.self) { command, context in
                self.commands.withLock { $0.append(command) }
                self.traceparents.withLock { $0.append(context.traceparent.flatMap { Traceparent($0) }) }
                return RelayMessage.Reply(components: try await self.behaviour(command))
            }
            router.on(RelayPush.self) { command, context in
                self.pushCommands.withLock { $0.append(command) }
                self.traceparents.withLock { $0.append(context.traceparent.flatMap { Traceparent($0) }) }
                return RelayPush.Reply(results: try await self.pushBehaviour(command).map(SendResult.init))
            }
            router.on(WithdrawSends.self) { command, _ in .init(withdrawn: self.withdraw(command.key)) }
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/\(name).sock", router: router, logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            return try await body()
        }
    }

    /// Runs it in an empty folder, for message logs that a test starts there.
    func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (_ folder: String) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in try await run(in: folder) { try await body(folder) } }
    }

    /// All messages that it was asked to relay, in order.
    var asked: [RelayMessage] { commands.withLock { $0 } }

    /// The trace contexts of all commands, in order.
    var traces: [Traceparent?] { traceparents.withLock { $0 } }

    /// All pushes that it was asked to relay, in order.
    var askedPushes: [RelayPush] { pushCommands.withLock(\.self) }

    /// The components of a message that it was asked to relay, one element for each command.
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
            result: .failure(DeliveryError(class: `class`, code: code, message: "as the test says", retryAfter: retryAfter)))
    }
}

/// Is true once.
final class First: Sendable {
    private let state = Mutex(false)

    func take() -> Bool {
        state.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    var isTaken: Bool { state.withLock(\.self) }
}

/// A latch. A test opens it to let a relay's answer pass.
final class Gate: Sendable {
    private let opened = AsyncStream<Void>.makeStream()

    func open() {
        opened.continuation.finish()
    }

    /// Returns once the gate is open. Only one task may wait.
    func pass() async {
        for await _ in opened.stream {}
    }
}

extension Relay {
    func withdraw(_ key: ObjectID) async -> Bool { false }

    func fanOut(_ command: FanOutMessage, by end: UnixMilliseconds) async throws(CommandFailure) -> Int { 0 }
}

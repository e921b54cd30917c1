import Base
import Bus
import FoundationEssentials
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// A messaging service on the bus that answers with the examples of the API's document, tells of events that a test makes up, and
/// records the commands that it gets.
final class MessagingDouble: Sendable {
    /// The bytes of each of its pictures.
    static let picture = Data([0xFF, 0xD8] + [UInt8](repeating: 7, count: 300_000))

    private struct State {
        var publisher: EventPublisher?
        var lastEvent: Int64 = 0
    }

    private let epoch = ObjectID()
    private let commands = AskedCommands()
    private let state = Mutex(State())

    var asked: [AskedCommands.Asked] { commands.all }

    /// Lets a command fail; `nil` lets it succeed again.
    func fail(_ command: String, _ failure: CommandFailure?) {
        commands.fail(command, failure)
    }

    /// Publishes that a message is new for a person.
    func tell(_ account: String, _ message: ObjectID) {
        let (publisher, number) = state.withLock { state in
            state.lastEvent += 1
            return (state.publisher, state.lastEvent)
        }
        let event = PersonChanged(
            epoch: epoch, number: number, account: .sample(account), kind: "messages", id: "\(message)")
        guard let publisher, let json = try? JSONCoder.encode(event) else { return }
        publisher.publish(PersonChanged.name, json)
    }

    /// Runs it at the endpoints that the gateway in the same folder uses.
    func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            let publisher = try EventPublisher(
                bus: bus, endpoint: "ipc://\(folder)/run/messaging-events.sock", logger: quietLogger)
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/messaging.sock", router: router, logger: quietLogger)
            state.withLock { $0.publisher = publisher }
            let running = Task { try await server.run() }
            defer {
                running.cancel()
                state.withLock { $0.publisher = nil }
            }
            return try await body()
        }
    }

    private var router: CommandRouter {
        var router = CommandRouter()
        answer(SendDirectMessage.self, .example, &router)
        answer(ReadMessageNews.self, .example, &router)
        answer(ConfirmMessages.self, .init(), &router)
        answer(MarkMessagesRead.self, .init(), &router)
        commands.answer(ListConversation.self, in: &router) { command, _ in
            ConversationPage(
                messages: [.example], conversation: .example, next: command.before == nil ? 7 : nil, now: .exampleTime)
        }
        answer(ReadMessaging.self, .init(rules: .example, choices: .example), &router)
        commands.answer(ChooseMessaging.self, in: &router) { command, _ in command.choices }
        answer(SetStatus.self, .example, &router)
        answer(ListStatuses.self, .example, &router)
        answer(ReadOwnStatus.self, .init(status: nil, now: .exampleTime), &router)
        answer(RemoveStatus.self, .init(), &router)
        answer(MarkStatusesSeen.self, .init(), &router)
        answer(SetProfilePicture.self, .init(), &router)
        answer(ReportMessage.self, .init(id: MessageReport.example.id, verdict: .genuine), &router)
        commands.answer(ListReports.self, in: &router) { command, _ in
            ListReports.Reply(reports: [.example], next: command.after == nil ? "r+1" : nil)
        }
        answer(ReadReport.self, .example, &router)
        answer(CloseReport.self, .example, &router)
        answer(CountMessaging.self, .example, &router)
        commands.answer(bytesOf: AddPicture.self, in: &router, .example)
        commands.answer(bytesOf: PublishPicture.self, in: &router, .example)
        commands.answer(readOf: ReadPicture.self, in: &router) { _ in (.example, MessagingDouble.picture) }
        return router
    }

    private func answer<C: Command>(_ type: C.Type, _ reply: C.Reply, _ router: inout CommandRouter) {
        commands.answer(type, in: &router) { _, _ in reply }
    }
}

extension Route {
    /// Whether it is a person's, about messages, statuses and pictures.
    var isOfMessaging: Bool {
        let beginnings = [
            "/user/messages", "/user/conversations", "/user/status", "/user/picture", "/user/reports", "/user/messaging",
            "/sendMessage", "/getMessage", "/sendStatus", "/getStatus",
        ]
        return right == .person && (path == "/users/:id/picture" || beginnings.contains { path.hasPrefix($0) })
    }
}

extension RunningGateway {
    /// Sends bytes.
    func upload(
        _ bytes: Data, to target: String, _ type: String = "image/png", headers: [String: String] = [:]
    ) async throws -> HTTPAnswer {
        let own = ["Content-Type": type, "Authorization": "Bearer \(token ?? "")"]
        let request = HTTPConversation.request("POST", target, headers: own.merging(headers) { $1 }, body: Array(bytes))
        let answer = try await HTTPConversation.send(request, to: port)
        return try #require(answer, "the gateway closed the connection")
    }
}

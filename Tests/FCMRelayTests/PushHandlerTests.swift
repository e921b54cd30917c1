import Bus
import FCM
import Base
import Schemas
import Synchronization
import Testing

@testable import FCMRelay

/// `push.relay` in the relay, with a test's own sender.
@Suite("The relay's handling of pushes", .timeLimit(.minutes(10)))
struct PushHandlerTests {
    private static let now: UnixMilliseconds = 1_795_262_400_000

    /// Records the groups that it gets, and gives an answer for each recipient.
    private final class Sender: FCMSender {
        private let log = Mutex<[[PushRecipient]]>([])
        private let messages = Mutex(0)
        private let answer: @Sendable (PushRecipient) async -> Result<String, SendFailure>

        init(_ answer: @escaping @Sendable (PushRecipient) async -> Result<String, SendFailure> = { .success("n-\($0.text)") }) {
            self.answer = answer
        }

        func send(
            _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
            by deadline: ContinuousClock.Instant
        ) async -> [Result<String, SendFailure>] {
            messages.withLock { $0 += 1 }
            return components.map { _ in .success("n") }
        }

        func send(
            _ push: RelayPush, to recipients: [PushRecipient], now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
            by deadline: ContinuousClock.Instant
        ) async -> [Result<String, SendFailure>] {
            log.withLock { $0.append(recipients) }
            var results: [Result<String, SendFailure>] = []
            for recipient in recipients { results.append(await answer(recipient)) }
            return results
        }

        var groups: [[PushRecipient]] { log.withLock(\.self) }
        var messageCount: Int { messages.withLock(\.self) }
    }

    private static func handler(_ sender: Sender) -> PushHandler {
        PushHandler(projects: Projects(standard: .sample("p", sender)), limit: .topic, now: { Self.now })
    }

    private func relay(
        _ push: RelayPush, _ handler: PushHandler, within time: Milliseconds? = nil
    ) async throws -> [Result<String, DeliveryError>] {
        let context = CommandContext(
            id: "1", command: RelayPush.name, deadline: time.map { Self.now + $0 }, logger: .quiet)
        return try await handler.relay(push, context).results.map(\.result)
    }

    private static func push(
        _ recipients: [PushRecipient], id: ObjectID = ObjectID(), message: JSONValue = ["data": ["a": "b"]],
        expires: UnixMilliseconds? = nil, validateOnly: Bool = false, project: String? = nil
    ) -> RelayPush {
        RelayPush(
            pushID: id, recipients: recipients, message: message, expires: expires, validateOnly: validateOnly, project: project)
    }

    @Test("Each of a thousand tokens has its own result, in its order, in groups that each ask for their turn")
    func manyTokens() async throws {
        let error = DeliveryError(.unregistered)
        let sender = Sender { $0.text.hasSuffix("7") ? .failure(SendFailure(error)) : .success("n-\($0.text)") }
        let tokens = (0..<1_000).map { PushRecipient.token("t\($0)") }
        let results = try await relay(Self.push(tokens), Self.handler(sender))
        #expect(results.count == 1_000)
        for (token, result) in zip(tokens, results) {
            #expect(result == (token.text.hasSuffix("7") ? .failure(error) : .success("n-\(token.text)")))
        }
        #expect(sender.groups.map(\.count) == Array(repeating: 100, count: 10))
    }

    @Test("A group that FCM may not answer before the deadline is not sent")
    func noTimeForAnotherGroup() async throws {
        let sender = Sender()
        let tokens = (0..<200).map { PushRecipient.token("t\($0)") }
        let results = try await relay(Self.push(tokens), Self.handler(sender), within: 9_000)
        #expect(sender.groups.map(\.count) == [100])
        #expect(results.prefix(100).allSatisfy { if case .success = $0 { true } else { false } })
        #expect(results.suffix(100).allSatisfy { $0 == .failure(DeliveryError(.noTime)) })
    }

    @Test("A repeated command is sent only to recipients for which FCM has not accepted it")
    func again() async throws {
        let isMended = Mutex(false)
        let later = DeliveryError(.unavailable, retryAfter: 1)
        let sender = Sender { recipient in
            recipient.text == "b" && !isMended.withLock(\.self) ? .failure(SendFailure(later)) : .success("n-\(recipient.text)")
        }
        let handler = Self.handler(sender)
        let push = Self.push([.token("a"), .token("b"), .token("c")])
        #expect(try await relay(push, handler) == [.success("n-a"), .failure(later), .success("n-c")])
        isMended.withLock { $0 = true }
        #expect(try await relay(push, handler) == [.success("n-a"), .success("n-b"), .success("n-c")])
        #expect(sender.groups == [[.token("a"), .token("b"), .token("c")], [.token("b")]])
        // Another message under the same id is another push.
        _ = try await relay(Self.push([.token("a")], id: push.pushID, message: ["data": ["a": "c"]]), handler)
        #expect(sender.groups.count == 3)
    }

    @Test("Two concurrent commands send to each recipient once, and both get its outcome")
    func joint() async throws {
        let (began, begin) = AsyncStream<Void>.makeStream()
        let (opened, open) = AsyncStream<Void>.makeStream()
        let sender = Sender { recipient in
            begin.finish()
            for await _ in opened {}
            return .success("n-\(recipient.text)")
        }
        let handler = Self.handler(sender)
        let push = Self.push([.topic("news")])
        async let first = relay(push, handler)
        for await _ in began {}
        async let second = relay(push, handler)
        open.finish()
        #expect(try await first == [.success("n-news")])
        #expect(try await second == [.success("n-news")])
        #expect(sender.groups.count == 1)
    }

    @Test("An expired push is not sent, one that FCM would refuse is invalid, and a dry run is always sent")
    func refusals() async throws {
        let sender = Sender()
        let handler = Self.handler(sender)
        let expired = try await relay(Self.push([.topic("a")], expires: Self.now), handler)
        #expect(expired == [.failure(.expired)])
        let violation = await #expect(throws: SchemaViolation.self) {
            try await relay(Self.push([.topic("a")], message: ["android": ["ttl": "1"]]), handler)
        }
        #expect(violation?.field == "message.android.ttl")
        let failure = await #expect(throws: CommandFailure.self) {
            try await relay(Self.push([.topic("a")], project: "nowhere"), handler)
        }
        #expect(failure?.status == .notFound && failure?.field == "project")
        #expect(sender.groups.isEmpty)
        let check = Self.push([.topic("a")], validateOnly: true)
        for _ in 0..<2 { _ = try await relay(check, handler) }
        #expect(sender.groups.count == 2)
    }

    @Test("A push to a cube topic goes by its channel's project; a topic whose quota is used up pauses alone")
    func projectsAndTopics() async throws {
        let library = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        let (standard, other) = (
            Sender { _ in .failure(SendFailure(DeliveryError(.quotaExceeded, retryAfter: 60_000), scope: .topic)) }, Sender()
        )
        let projects = Projects(standard: .sample("p", standard), others: [(.sample("l", other), [library.channel])])
        let handler = PushHandler(projects: projects, limit: .topic, now: { Self.now })
        _ = try await relay(Self.push([.topic(library.description)]), handler)
        #expect(other.groups.count == 1 && standard.groups.isEmpty)
        _ = try await relay(Self.push([.topic("busy")]), handler)
        let paused = try #require(await relay(Self.push([.topic("busy")]), handler)[0].failure)
        #expect(paused.catalogued == .topicPaused)
        _ = try await relay(Self.push([.topic("quiet")]), handler)
        #expect(standard.groups.count == 2)
    }

    @Test("Pushes to many phones do not make the relay forget messages")
    func memory() async throws {
        let sender = Sender()
        let projects = Projects(standard: .sample("p", sender))
        let (pushes, messages) = (
            PushHandler(projects: projects, limit: .topic, now: { Self.now }),
            RelayHandler(projects: projects, limit: .topic, now: { Self.now })
        )
        let context = CommandContext(id: "1", command: RelayMessage.name, deadline: nil, logger: .quiet)
        let message = RelayMessage.sample()
        _ = try await messages.relay(message, context)
        let push = Self.push((0..<1_000).map { .token("t\($0)") })
        _ = try await relay(push, pushes)
        for _ in 0..<11 { _ = try await relay(Self.push(push.recipients), pushes) }
        let groups = sender.groups.count
        _ = try await messages.relay(message, context)
        _ = try await relay(push, pushes)
        #expect(sender.messageCount == 1 && sender.groups.count == groups)
    }
}

import Bus
import FCM
import FoundationEssentials
import Schemas
import Testing
import Base

@testable import FCMRelay

@Suite("The handler of message.relay")
struct RelayHandlerTests {
    private static let now: UnixMilliseconds = 1_795_262_400_000

    private func relay(
        _ command: RelayMessage, _ sender: RecordingSender, limit: PayloadLimit = .topic, deadline: UnixMilliseconds? = nil
    ) async throws -> [ComponentOutcome] {
        let handler = RelayHandler(projects: Projects(standard: .sample("p", sender)), limit: limit, now: { Self.now })
        let context = CommandContext(id: "1", command: RelayMessage.name, deadline: deadline, logger: .quiet)
        return try await handler.relay(command, context).components
    }

    @Test("Each component has its own outcome, in the order of the command")
    func eachComponentHasItsOwnOutcomeInTheOrderAskedFor() async throws {
        let error = DeliveryError(class: .retryable, code: "UNAVAILABLE", message: "later", retryAfter: 10_000)
        let sender = RecordingSender { component in
            component == .notification ? .failure(SendFailure(error)) : .success("projects/p/messages/2")
        }
        #expect(
            try await relay(.sample(), sender) == [
                ComponentOutcome(component: .notification, result: .failure(error)),
                ComponentOutcome(component: .data, result: .success("projects/p/messages/2")),
            ])
        #expect(
            try await relay(.sample(components: [.data, .notification]), sender) == [
                ComponentOutcome(component: .data, result: .success("projects/p/messages/2")),
                ComponentOutcome(component: .notification, result: .failure(error)),
            ])
    }

    @Test("It sends the components that the command names, and no others")
    func sendsWhatTheSeedMapsAndNothingElse() async throws {
        let sender = RecordingSender()
        let alert = RelayMessage.sample(.alert)
        _ = try await relay(alert, sender)
        #expect(sender.sent.map(\.component) == [.notification, .data])
        #expect(sender.sent.allSatisfy { $0.message == alert && $0.now == Self.now })
        let information = RelayMessage.sample(.information)
        #expect(
            try await relay(information, sender) == [ComponentOutcome(component: .data, result: .success("n"))])
        _ = try await relay(.sample(.alert, components: [.notification]), sender)
        #expect(sender.sent.count == 4)
    }

    @Test("A message that has expired is not sent", arguments: [now, now - Milliseconds(1), 0, UnixMilliseconds(rawValue: .min)])
    func whatHasExpiredIsNotSent(expires: UnixMilliseconds) async throws {
        let sender = RecordingSender()
        let outcomes = try await relay(.sample(expires: expires), sender)
        #expect(outcomes.map(\.component) == [.notification, .data])
        for outcome in outcomes {
            let error = try #require(outcome.result.failure)
            #expect(error.class == .expired)
            #expect(error.code == "EXPIRED")
        }
        #expect(sender.sent.isEmpty)
    }

    @Test("A message that has not expired is sent", arguments: [now + 1, .max])
    func whatHasNotExpiredIs(expires: UnixMilliseconds) async throws {
        let sender = RecordingSender()
        _ = try await relay(.sample(expires: expires), sender)
        #expect(sender.sent.count == 2)
    }

    @Test("The sender is told when the message expires")
    func theSenderKnowsWhenItExpires() async throws {
        let sender = RecordingSender()
        let begin = ContinuousClock.now
        _ = try await relay(.sample(.information, expires: Self.now + 60_000), sender)
        let given = try #require(sender.sent.first).expiry
        #expect((begin + .seconds(60)...begin + .seconds(70)).contains(given))
    }

    @Test("A message that exceeds the limit without its texts is not sent")
    func whatIsTooLargeIsNotSent() async throws {
        let sender = RecordingSender()
        let message = RelayMessage.sample(message: String(repeating: "€", count: 1_500))
        for outcome in try await relay(message, sender, limit: PayloadLimit(bytes: 150)) {
            let error = try #require(outcome.result.failure)
            #expect(error.class == .permanent)
            #expect(error.code == "PAYLOAD_TOO_LARGE")
            #expect(error.message.contains("150"))
        }
        // The pop-up alone would fit, and its data would come later.
        let popUp = RelayMessage.sample(message: message.content.message, components: [.notification])
        #expect(FCMPayload(.notification, of: popUp.content, at: popUp.timestamp, within: 150).bytes <= 150)
        #expect(
            try await relay(popUp, sender, limit: PayloadLimit(bytes: 150)).map(\.result.failure?.code) == ["PAYLOAD_TOO_LARGE"])
        #expect(sender.sent.isEmpty)
        _ = try await relay(message, sender)
        #expect(sender.sent.count == 2)
    }

    @Test(
        "The deadline for FCM leaves time for the relay's own answer",
        arguments: [(nil, 30_000), (now + 5_000, 4_750), (.max, 30_000)] as [(UnixMilliseconds?, Int64)])
    func theDeadlineLeavesTimeForTheAnswer(deadline: UnixMilliseconds?, milliseconds: Int64) async throws {
        let sender = RecordingSender()
        let begin = ContinuousClock.now
        _ = try await relay(.sample(.information), sender, deadline: deadline)
        let given = try #require(sender.sent.first).deadline
        let expected = begin + .milliseconds(milliseconds)
        #expect((expected...(expected + .seconds(10))).contains(given))
    }

    @Test("A project that fails does not make the relay unavailable for other projects")
    func oneProjectThatFailsMakesTheRelayUnavailableForNobody() async throws {
        let error = DeliveryError(class: .retryable, code: "UNAVAILABLE", message: "later")
        let failing = Project.sample("failing", RecordingSender { _ in .failure(SendFailure(error, scope: .service)) })
        let handler = RelayHandler(
            projects: Projects(standard: .sample("p", RecordingSender()), others: [(failing, [])]), limit: .topic,
            now: { Self.now })
        let context = CommandContext(id: "1", command: RelayMessage.name, deadline: nil, logger: .quiet)
        var codes: [String?] = []
        for _ in 0..<21 {
            let message = RelayMessage.sample(.information)
            let command = RelayMessage(
                msiKey: message.msiKey, timestamp: message.timestamp, content: message.content, project: "failing")
            guard case .failure(let error) = try await handler.relay(command, context).components[0].result else { break }
            codes.append(error.code)
        }
        #expect(codes == Array(repeating: "UNAVAILABLE", count: 20) + ["CIRCUIT_OPEN"])
        #expect(handler.projects.health["fcm"] == .ok)
        #expect(handler.projects.health["fcm/failing"]?.status == .unavailable)
    }

    @Test("A command without enough time left is not sent")
    func whatHasNoTimeLeftIsNotSent() async throws {
        let sender = RecordingSender()
        for outcome in try await relay(.sample(.information), sender, deadline: Self.now + 100) {
            let error = try #require(outcome.result.failure)
            #expect(error.class == .retryable)
        }
        #expect(sender.sent.isEmpty)
    }
}

import Base
import Schemas
import TestSupport
import Testing

@testable import FCMRelay

/// The order in which the components of Alerts that wait in the relay go to FCM.
@Suite("Pop-ups first", .timeLimit(.minutes(5)))
struct PopUpsFirstTests {
    private static let now: UnixMilliseconds = 1_795_262_400_000
    private static let alerts = 3

    private static func send(_ alert: RelayMessage, by project: Project) async -> [ComponentOutcome] {
        await project.send(alert, before: .now + .seconds(600), by: .now + .seconds(300), now: { now })
    }

    /// The components in the order in which FCM gets them, of Alerts that wait while the project's quota is used up.
    ///
    /// - Returns: `nil` if the pause was over before all of them waited, or this process did not run for a while.
    private static func componentsAfterPause() async throws -> [Component]? {
        let sender = RecordingSender()
        // Half a second between two turns: a send whose task gets no processor for a while must not be overtaken by the next turn's.
        let project = Project.sample("p", sender, rate: 2)
        let pause = DeliveryError(class: .retryable, code: "QUOTA_EXCEEDED", message: "later", retryAfter: 2_000)
        project.messageGate.pacer.learn(from: SendFailure(pause, scope: .project), about: nil)
        return try await withThrowingTaskGroup(of: [ComponentOutcome].self) { tasks in
            for _ in 0..<alerts { tasks.addTask { await send(.sample(.alert), by: project) } }
            try await eventually { project.pace.waiting == alerts || !sender.sent.isEmpty }
            let allWait = sender.sent.isEmpty
            var failures: [DeliveryError] = []
            for try await outcomes in tasks {
                #expect(outcomes.map(\.component) == [.notification, .data])
                failures += outcomes.compactMap(\.result.failure)
            }
            // The pacer refuses what waits if this process did not run for a while.
            if !allWait || failures.contains(where: { $0.code == "NO_TIME" }) { return nil }
            #expect(failures.isEmpty)
            return sender.sent.map(\.component)
        }
    }

    @Test("FCM gets the pop-ups of all Alerts that wait before the data of any")
    func order() async throws {
        let components = try await eventually("all Alerts wait") { try await Self.componentsAfterPause() }
        #expect(components == [.notification, .notification, .notification, .data, .data, .data])
    }

    @Test("An Alert whose pop-up may not go out in time has the same outcome for both components, and sends nothing")
    func refused() async throws {
        let sender = RecordingSender()
        let project = Project.sample("p", sender)
        let pause = DeliveryError(class: .retryable, code: "QUOTA_EXCEEDED", message: "later", retryAfter: 3_600_000)
        project.messageGate.pacer.learn(from: SendFailure(pause, scope: .project), about: nil)
        let outcomes = await Self.send(.sample(.alert), by: project)
        #expect(outcomes.map(\.component) == [.notification, .data])
        #expect(outcomes.allSatisfy { $0.result.failure?.code == "PROJECT_PAUSED" })
        #expect(sender.sent.isEmpty)
    }

    /// The outcomes of an Alert whose pop-up has waited, and which FCM does not accept, and the components that FCM got.
    ///
    /// - Returns: `nil` if the Alert did not wait, or this process did not run for a while.
    private static func refusedByFCM(_ failure: SendFailure) async throws -> (outcomes: [ComponentOutcome], sent: [Component])? {
        let sender = RecordingSender { $0 == .notification ? .failure(failure) : .success("n") }
        let project = Project.sample("p", sender)
        let pause = DeliveryError(class: .retryable, code: "QUOTA_EXCEEDED", message: "later", retryAfter: 1_000)
        project.messageGate.pacer.learn(from: SendFailure(pause, scope: .project), about: nil)
        let sending = Task { await send(.sample(.alert), by: project) }
        try await eventually { project.pace.waiting > 0 || !sender.sent.isEmpty }
        let hasWaited = sender.sent.isEmpty
        let outcomes = await sending.value
        guard hasWaited, outcomes.first?.result.failure?.code != "NO_TIME" else { return nil }
        return (outcomes, sender.sent.map(\.component))
    }

    @Test("If FCM does not take the pop-up now, the data stays for the next attempt, which has both again")
    func refusedForNow() async throws {
        let refusal = DeliveryError(class: .retryable, code: "RESOURCE_EXHAUSTED", message: "later", retryAfter: 1_000)
        let (outcomes, sent) = try await eventually("the Alert waits") {
            try await Self.refusedByFCM(SendFailure(refusal, scope: .project))
        }
        #expect(outcomes.map(\.component) == [.notification, .data])
        #expect(outcomes.allSatisfy { $0.result.failure == refusal })
        #expect(sent == [.notification])
    }

    @Test("If FCM never takes the pop-up, or may have it, the data goes out")
    func dataWithoutPopUp() async throws {
        let never = DeliveryError(class: .permanent, code: "INVALID_ARGUMENT", message: "no")
        for error in [never, DeliveryError(.badAnswer)] {
            let (outcomes, sent) = try await eventually("the Alert waits") {
                try await Self.refusedByFCM(SendFailure(error))
            }
            #expect(outcomes.map { $0.result.failure } == [error, nil])
            #expect(sent == [.notification, .data])
        }
    }

    @Test("While the pop-up waits, the Alert can be withdrawn, and nothing of it is sent")
    func withdrawal() async throws {
        let sender = RecordingSender()
        // One send a minute: the Alert waits, however long the test takes.
        let project = Project.sample("p", sender, rate: 1.0 / 60)
        _ = await Self.send(.sample(.information), by: project)
        let alert = RelayMessage.sample(.alert)
        let sending = Task { await Self.send(alert, by: project) }
        try await eventually { project.pace.waiting == 1 }
        #expect(project.messageGate.pacer.withdraw(alert.msiKey) == 1)
        let outcomes = await sending.value
        #expect(outcomes.map { $0.result.failure?.code } == ["PACED", "PACED"])
        #expect(sender.sent.map(\.component) == [.data])
    }
}

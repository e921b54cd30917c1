import Base
import Schemas
import Store
import Synchronization
import TestSupport
import Testing
import WebPushStore

@testable import WebPush

/// Subscriptions that have ended, which may be those of students' devices.
@Suite("Ended subscriptions", .timeLimit(.minutes(10)))
struct EndedSubscriptionTests {
    /// A people service that takes reports, or fails.
    private final class People: Sendable {
        private let state = Mutex((reports: [EndDevicePushes](), failure: CommandFailure?.none))

        var reports: [EndDevicePushes] { state.withLock(\.reports) }

        func fail(_ failure: CommandFailure?) { state.withLock { $0.failure = failure } }

        func report(_ command: EndDevicePushes) throws(CommandFailure) {
            let failure = state.withLock { state in
                if state.failure == nil { state.reports.append(command) }
                return state.failure
            }
            if let failure { throw failure }
        }
    }

    /// The people service of a test, and what its Web Push service tells it by.
    private let people = People()

    private func run(
        _ kind: StoreKind = .sqlite, _ body: @Sendable (_ service: WebPush, _ sender: SenderDouble) async throws -> Void
    ) async throws {
        try await withWebPush(
            kind, report: { [people] command throws(CommandFailure) in try people.report(command) }, body)
    }

    @Test(
        "A subscription that its push service calls gone is reported before it is removed, and stays until that is answered",
        arguments: StoreKind.allCases)
    func reported(_ kind: StoreKind) async throws {
        try await run(kind) { [people] service, sender in
            let store = service.subscriptions.store
            let id = try await service.subscribe(Browser(), sender)
            sender.answer { _ in .failure(WebPushFailure(DeliveryError(.unregistered), .gone)) }
            let failure = CommandFailure(.unavailable, "no connection")
            people.fail(failure)
            _ = try await service.requirePushing().blocks.relay(
                RelayPush(
                    pushID: ObjectID(), transport: .webpush, recipients: [.token(id.description)],
                    message: ["payload": [:], "urgency": "high"]), .sample())
            let refused = await #expect(throws: CommandFailure.self) { try await service.ended.remove() }
            #expect(refused == failure)
            #expect(try await store.get(id, from: WebPushStore.subscriptions) != nil && people.reports.isEmpty)
            people.fail(nil)
            try await service.ended.remove()
            #expect(try await store.get(id, from: WebPushStore.subscriptions) == nil)
            #expect(people.reports.map(\.subscriptions) == [[id]] && people.reports.allSatisfy { $0.devices.isEmpty })
            try await service.ended.remove()
            #expect(people.reports.count == 1)
        }
    }

    @Test("Without the command, an older people service has no devices, and the subscription is removed")
    func olderPeople() async throws {
        try await run { [people] service, sender in
            let id = try await service.subscribe(Browser(), sender)
            people.fail(CommandFailure(.invalid, "unknown command \"device.unreachable\""))
            service.ended.add([id])
            try await service.ended.remove()
            #expect(try await service.subscriptions.store.get(id, from: WebPushStore.subscriptions) == nil)
        }
    }

    @Test("More than a command takes are reported in several, each once")
    func many() async throws {
        try await run { [people] service, _ in
            let ids = (0..<(2 * PushRecipient.maxTokens + 1)).map { _ in ObjectID() }
            service.ended.add(ids)
            try await service.ended.remove()
            let reports = people.reports
            #expect(reports.map(\.subscriptions.count) == [PushRecipient.maxTokens, PushRecipient.maxTokens, 1])
            #expect(Set(reports.flatMap(\.subscriptions)) == Set(ids))
        }
    }

    @Test("By itself it reports and removes within seconds, as soon as the people service is there")
    func service() async throws {
        try await run { [people] service, sender in
            let id = try await service.subscribe(Browser(), sender)
            people.fail(CommandFailure(.unavailable, "no connection"))
            let running = Task { try await service.ended.run() }
            defer { running.cancel() }
            service.ended.add([id])
            people.fail(nil)
            try await eventually("it is removed", within: .seconds(30)) {
                try await service.subscriptions.store.get(id, from: WebPushStore.subscriptions) == nil
            }
            #expect(people.reports.map(\.subscriptions) == [[id]])
        }
    }
}

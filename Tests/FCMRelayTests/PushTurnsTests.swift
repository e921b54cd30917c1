import Base
import Bus
import FCM
import HTTPTransport
import Schemas
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import FCMRelay

/// Pushes that wait in the relay until earlier ones have their answers.
@Suite("Pushes that wait for their turn", .timeLimit(.minutes(10)))
struct PushTurnsTests {
    private static let now: UnixMilliseconds = 1_795_262_400_000

    /// An FCM that accepts each push once it is opened.
    private final class SlowFCM: FCMSender {
        private struct State {
            var groups: [[String]] = []
            var recipients = 0
            var maxRecipients = 0
        }

        private let state = Mutex(State())
        private let gate = AsyncStream<Void>.makeStream()
        private let answer: @Sendable (String) -> Result<String, SendFailure>

        init(isOpen: Bool = false, _ answer: @escaping @Sendable (String) -> Result<String, SendFailure> = { .success($0) }) {
            self.answer = answer
            if isOpen { open() }
        }

        func open() { gate.continuation.finish() }

        func send(
            _ components: [Component], of message: RelayMessage, now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
            by deadline: ContinuousClock.Instant
        ) async -> [Result<String, SendFailure>] {
            components.map { _ in .success("n") }
        }

        func send(
            _ push: RelayPush, to recipients: [PushRecipient], now: UnixMilliseconds, before expiry: ContinuousClock.Instant,
            by deadline: ContinuousClock.Instant
        ) async -> [Result<String, SendFailure>] {
            state.withLock { state in
                state.groups.append(recipients.map(\.text))
                state.recipients += recipients.count
                state.maxRecipients = max(state.maxRecipients, state.recipients)
            }
            for await _ in gate.stream {}
            await Task.yield()
            state.withLock { $0.recipients -= recipients.count }
            return recipients.map { answer($0.text) }
        }

        /// The texts of the recipients of each group that was sent, in the order of the begin.
        var groups: [[String]] { state.withLock(\.groups) }
        var maxRecipients: Int { state.withLock(\.maxRecipients) }
    }

    /// A handler whose one project is full of normal pushes.
    private struct FullRelay {
        let fcm: SlowFCM
        let project: Project
        let handler: PushHandler

        func relay(_ push: RelayPush, within time: Milliseconds? = nil) async throws -> [Result<String, DeliveryError>] {
            try await PushTurnsTests.relay(push, handler, within: time)
        }

        /// Waits until there are groups of so many recipients that wait for room.
        func waitUntil(waiting recipients: Int) async throws {
            try await eventually { project.pace.waiting == recipients }
        }
    }

    /// Runs a test while five groups of normal pushes are under way, and expects that FCM accepts them in the end.
    private func withFullRelay(_ body: @Sendable (FullRelay) async throws -> Void) async throws {
        let fcm = SlowFCM()
        let project = Project.sample("p", fcm)
        let relay = FullRelay(
            fcm: fcm, project: project,
            handler: PushHandler(projects: Projects(standard: project), limit: .topic, now: { Self.now }))
        try await withThrowingTaskGroup(of: [Result<String, DeliveryError>].self) { tasks in
            let full = Project.maxPushRecipients / Project.pushGroup
            for number in 0..<full { tasks.addTask { try await relay.relay(Self.push("full\(number)-", to: 100)) } }
            defer { fcm.open() }
            try await eventually { fcm.groups.count == full }
            try await body(relay)
            fcm.open()
            for try await results in tasks { #expect(results.allSatisfy { $0.failure == nil }) }
        }
    }

    private static func push(_ prefix: String, to phones: Int, isUrgent: Bool = false) -> RelayPush {
        RelayPush(
            pushID: ObjectID(), recipients: (0..<phones).map { .token("\(prefix)\($0)") },
            message: ["data": ["a": "b"], "android": ["priority": isUrgent ? "HIGH" : "NORMAL"]])
    }

    private static func relay(
        _ push: RelayPush, _ handler: PushHandler, within time: Milliseconds? = nil
    ) async throws -> [Result<String, DeliveryError>] {
        let context = CommandContext(
            id: "1", command: RelayPush.name, deadline: time.map { Self.now + $0 }, logger: .quiet)
        return try await handler.relay(push, context).results.map(\.result)
    }

    @Test("Forty pushes to a thousand phones at once are all accepted, with at most half of the project's places")
    func forty() async throws {
        let fcm = SlowFCM(isOpen: true)
        let handler = PushHandler(projects: Projects(standard: .sample("p", fcm)), limit: .topic, now: { Self.now })
        try await withThrowingTaskGroup(of: [Result<String, DeliveryError>].self) { tasks in
            for number in 0..<40 {
                tasks.addTask { try await Self.relay(Self.push("\(number)-", to: 1_000), handler) }
            }
            for try await results in tasks {
                #expect(results.count == 1_000)
                #expect(results.lazy.compactMap(\.failure).first == nil)
            }
        }
        #expect(fcm.groups.count == 400 && Set(fcm.groups.joined()).count == 40_000)
        #expect(fcm.maxRecipients <= Project.maxPushRecipients)
    }

    @Test("Several groups of one push are under way at once")
    func onePush() async throws {
        let fcm = SlowFCM()
        let handler = PushHandler(projects: Projects(standard: .sample("p", fcm)), limit: .topic, now: { Self.now })
        async let results = Self.relay(Self.push("t", to: 1_000), handler)
        defer { fcm.open() }
        try await eventually { fcm.groups.count == 4 }
        fcm.open()
        #expect(try await results == (0..<1_000).map { .success("t\($0)") })
    }

    @Test("An urgent push overtakes normal ones that wait")
    func urgent() async throws {
        try await withFullRelay { relay in
            async let normal = relay.relay(Self.push("normal", to: 300))
            try await relay.waitUntil(waiting: 300)
            async let urgent = relay.relay(Self.push("urgent", to: 300, isUrgent: true))
            // One of its groups goes out although the normal ones have all the room.
            try await eventually { relay.fcm.groups.last?.first?.hasPrefix("urgent") == true }
            try await relay.waitUntil(waiting: 500)
            relay.fcm.open()
            let results = try await normal + urgent
            #expect(results.count == 600 && results.allSatisfy { $0.failure == nil })
        }
    }

    @Test("A push that is withdrawn while it waits is answered at once, and is sent to no phone")
    func withdrawn() async throws {
        try await withFullRelay { relay in
            let push = Self.push("withdrawn", to: 1_000)
            async let results = relay.relay(push)
            try await relay.waitUntil(waiting: 400)
            #expect(relay.project.messageGate.pacer.withdraw(push.pushID) == 1)
            let errors = try await results.map(\.failure)
            #expect(errors.count == 1_000 && errors.allSatisfy { $0?.catalogued == .paced })
            #expect(!relay.fcm.groups.joined().contains { $0.hasPrefix("withdrawn") })
        }
    }

    @Test("A stop ends the waits, and what is under way ends normally")
    func stopped() async throws {
        try await withFullRelay { relay in
            async let results = relay.relay(Self.push("t", to: 1_000))
            try await relay.waitUntil(waiting: 400)
            relay.project.stopSending()
            #expect(try await results.allSatisfy { $0.failure?.catalogued == .stopped })
        }
    }

    @Test("No group waits so long that FCM may not answer before the command's deadline, and the recipients are kept back")
    func deadline() async throws {
        try await withFullRelay { relay in
            // The second one has a second to wait.
            let margins = [Duration.seconds(-1), .seconds(1)].map { $0 + DeliveryTimes.relayReplyMargin }
            for (number, margin) in margins.enumerated() {
                let time = Milliseconds(DeliveryTimes.fcmRequestTimeout + margin)
                let results = try await relay.relay(Self.push("late\(number)-", to: 200), within: time)
                #expect(results.count == 200 && results.allSatisfy { $0.failure?.isKeptBack == true })
            }
            #expect(!relay.fcm.groups.joined().contains { $0.hasPrefix("late") })
        }
    }

    @Test("After an outage the first group of a push finds out whether FCM answers, and then all others are sent")
    func afterAnOutage() async throws {
        let fcm = SlowFCM()
        let project = Project.sample("p", fcm)
        let handler = PushHandler(projects: Projects(standard: project), limit: .topic, now: { Self.now })
        let failure = SendFailure(DeliveryError(.network), scope: .service)
        _ = project.messageGate.leave(Array(repeating: Result<String, _>.failure(failure), count: 20), about: nil)
        #expect(!project.messageGate.breaker.isClosed)
        try await eventually { project.openCircuit == nil }
        async let results = Self.relay(Self.push("t", to: 1_000), handler)
        defer { fcm.open() }
        try await eventually { !fcm.groups.isEmpty }
        #expect(fcm.groups == [(0..<100).map { "t\($0)" }])
        fcm.open()
        #expect(try await results == (0..<1_000).map { .success("t\($0)") })
    }

    @Test("The wait ends when the circuit opens")
    func openCircuit() async throws {
        try await withFullRelay { relay in
            async let results = relay.relay(Self.push("t", to: 1_000))
            try await relay.waitUntil(waiting: 400)
            let failure = SendFailure(DeliveryError(.network), scope: .service)
            _ = relay.project.messageGate.leave(Array(repeating: Result<String, _>.failure(failure), count: 20), about: nil)
            #expect(try await results.allSatisfy { $0.failure?.catalogued == .circuitOpen })
        }
    }

    @Test("The number of pushes that wait is limited, and each recipient of a further one is kept back")
    func tooMany() async throws {
        try await withFullRelay { relay in
            try await withThrowingTaskGroup(of: [Result<String, DeliveryError>].self) { tasks in
                let waiting = Project.maxPushes - Project.maxPushRecipients / Project.pushGroup
                for number in 0..<waiting { tasks.addTask { try await relay.relay(Self.push("\(number)-", to: 100)) } }
                try await relay.waitUntil(waiting: 100 * waiting)
                let refused = try await relay.relay(Self.push("t", to: 3))
                #expect(refused.count == 3 && refused.allSatisfy { $0.failure?.catalogued == .overloaded })
                relay.fcm.open()
                for try await results in tasks { #expect(results.allSatisfy { $0.failure == nil }) }
            }
        }
    }

    @Test("A group that is refused does not hide that FCM has accepted a later one")
    func acceptedBefore() async throws {
        let failure = SendFailure(DeliveryError(.unavailable))
        let fcm = SlowFCM(isOpen: true) { $0 == "t0" ? .failure(failure) : .success($0) }
        let project = Project.sample("p", fcm)
        let handler = PushHandler(projects: Projects(standard: project), limit: .topic, now: { Self.now })
        let push = Self.push("t", to: 1_000)
        #expect(try await Self.relay(push, handler).compactMap(\.failure) == [failure.error])
        project.stopSending()
        let again = try await Self.relay(push, handler)
        #expect(again.first?.failure?.catalogued == .stopped)
        #expect(again.dropFirst().compactMap(\.failure).isEmpty)
        #expect(fcm.groups.count == 10)
    }
}

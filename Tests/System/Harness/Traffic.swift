import FoundationEssentials
import NIOCore
import Synchronization

/// Portals that post messages at a steady rate, whatever happens, and remember what was accepted.
///
/// Every other message has an Idempotency-Key and is posted again until it is answered, as a careful portal would; the rest
/// are posted once.
final class Traffic: Sendable {
    /// A message that was answered with 201.
    struct Accepted: Hashable, Sendable {
        let msiKey: String
        let distribution: String

        /// What the phone has to get of it.
        var components: [DeliveredComponent] {
            let names = distribution == "Alert" ? ["notification", "data"] : ["data"]
            return names.map { DeliveredComponent(msiKey: msiKey, name: $0) }
        }
    }

    private struct State {
        var accepted: [Accepted] = []
        var retries = 0
        /// Answers that nobody should get, whatever is killed.
        var surprises: [String] = []
        var isOver = false
    }

    private let portal: Portal
    private let subjects: [SubjectPath]
    private let state = Mutex(State())

    init(portal: Portal, subjects: [SubjectPath]) {
        self.portal = portal
        self.subjects = subjects
    }

    var accepted: [Accepted] { state.withLock(\.accepted) }
    var retries: Int { state.withLock(\.retries) }
    var surprises: [String] { state.withLock(\.surprises) }

    /// Ends the traffic once what is under way has been answered.
    func stop() {
        state.withLock { $0.isOver = true }
    }

    /// Waits until so many more messages have been accepted.
    func accepts(more count: Int) async throws {
        let goal = accepted.count + count
        try await eventually("\(goal) messages accepted") { accepted.count >= goal }
    }

    /// Posts until it is stopped.
    ///
    /// - Parameters:
    ///   - clients: How many post side by side.
    ///   - period: How often each of them does.
    func run(clients: Int, every period: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask { try await self.post(as: client, every: period) }
            }
            try await group.waitForAll()
        }
    }

    private func post(as client: Int, every period: Duration) async throws {
        var next = ContinuousClock.now
        var number = 0
        while !state.withLock(\.isOver) {
            let subject = subjects[number % subjects.count]
            let message = subject.message(title: "\(client)/\(number)")
            if (number / subjects.count) % 2 == 0 {
                try await postUntilAnswered(message, subject, key: "traffic-\(client)-\(number)")
            } else {
                _ = await postOnce(message, subject, key: nil)
            }
            number += 1
            next = max(next + period, .now)
            try await Task.sleep(until: next, clock: .continuous)
        }
    }

    private func postUntilAnswered(_ message: JSONValue, _ subject: SubjectPath, key: String) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while await !postOnce(message, subject, key: key) {
            guard ContinuousClock.now < deadline else { throw TooLate("\(key) was not answered") }
            state.withLock { $0.retries += 1 }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// - Returns: Whether there is no more to do: it was accepted, or refused for good.
    private func postOnce(_ message: JSONValue, _ subject: SubjectPath, key: String?) async -> Bool {
        // A connection that breaks leaves open whether the message was accepted.
        guard let answer = try? await portal.post(message, key: key, within: .seconds(10)) else { return false }
        if answer.status == 503 { return false }
        state.withLock { state in
            if answer.status == 201, let msiKey = try? answer.json["msi_key"]?.string {
                state.accepted.append(Accepted(msiKey: msiKey, distribution: subject.distribution))
            } else {
                state.surprises.append("\(answer)")
            }
        }
        return true
    }
}

import Base
import NIOHTTP1
import Synchronization
import TestSupport

/// People who approve or recall held messages, and retry failed ones, while the product fails.
final class Interventions: Sendable {
    /// Something that was done with a message, and answered with 200.
    struct Done: Hashable, Sendable {
        /// As in the audit log.
        let action: String
        let msiKey: String
    }

    private struct State {
        var done: [Done] = []
        var surprises: [String] = []
        var isOver = false
        var latest: String?
        var retried: Set<String> = []
        var rounds = 0
    }

    private static let period = Duration.milliseconds(500)
    /// The number of messages of a round.
    private static let perRound = 20

    private let portal: Portal
    private let second: Communicator
    private let state = Mutex(State())

    /// - Parameters:
    ///   - portal: That of the person who posts the messages.
    ///   - second: Approves them.
    init(portal: Portal, second: Communicator) {
        self.portal = portal
        self.second = second
    }

    var done: [Done] { state.withLock(\.done) }
    /// Unexpected answers.
    var surprises: [String] { state.withLock(\.surprises) }
    /// A message that was accepted recently.
    var latest: String? { state.withLock(\.latest) }

    /// Ends the interventions as soon as no message is held.
    func stop() {
        state.withLock { $0.isOver = true }
    }

    func run() async throws {
        while true {
            let isOver = state.withLock(\.isOver)
            let held = await keys("state=held&limit=\(Self.perRound)")
            for msiKey in held ?? [] { await decide(msiKey) }
            for msiKey in await keys("state=failed&limit=\(Self.perRound)") ?? []
            where state.withLock({ $0.retried.insert(msiKey).inserted }) {
                note(try? await portal.call(.POST, "/message/\(msiKey)/retry"), "message.retry", msiKey)
            }
            if let latest = await keys("limit=1")?.first { state.withLock { $0.latest = latest } }
            if isOver, held?.isEmpty == true { return }
            try await Task.sleep(for: Self.period)
        }
    }

    /// Approves a held message, or recalls one of eight.
    private func decide(_ msiKey: String) async {
        let round = state.withLock { state in
            state.rounds += 1
            return state.rounds
        }
        if round % 8 == 0 {
            note(try? await portal.call(.DELETE, "/message/\(msiKey)"), "message.recall", msiKey)
        } else {
            note(await second.call(.POST, "/message/\(msiKey)/approve"), "message.approve", msiKey)
        }
    }

    /// The keys of the messages of a search; `nil` without an answer.
    private func keys(_ query: String) async -> [String]? {
        guard let answer = try? await portal.call(.GET, "/message?\(query)"), answer.status == 200,
            let messages = try? answer.json["messages"]?.elements
        else { return nil }
        return messages.compactMap { $0["msi_key"]?.string }
    }

    private func note(_ answer: HTTPAnswer?, _ action: String, _ msiKey: String) {
        // Without an answer, or after these, the outcome is unknown: the next round tries again.
        guard let answer, ![429, 503, 507].contains(answer.status) else { return }
        switch answer.status {
        case 200: state.withLock { $0.done.append(Done(action: action, msiKey: msiKey)) }
        // A request without an answer has done it, or it is too late.
        case 409: break
        default: state.withLock { $0.surprises.append("\(action) \(msiKey): \(answer)") }
        }
    }
}

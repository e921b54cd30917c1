import Base
import TestSupport
import Synchronization

/// Polls the archive like a portal until every message has ended, and records the errors that it showed in between.
final class ArchiveWatch: Sendable {
    /// An error in the answer of `GET /message/:msi_key`.
    struct Trouble: Hashable, Sendable, CustomStringConvertible {
        let `class`: String
        let code: String

        var description: String { "\(`class`) \(code)" }
    }

    private struct State {
        var messages: [String: ArchivedMessage] = [:]
        var errors: [SentComponent: Set<Trouble>] = [:]
        /// The expected messages; `nil` before they are known.
        var expected: Set<String>?

        mutating func note(_ message: ArchivedMessage) {
            messages[message.msiKey] = message
            for component in message.components {
                guard let code = component.error, let kind = component.errorClass else { continue }
                errors[component.component, default: []].insert(Trouble(class: kind, code: code))
            }
        }
    }

    /// Much shorter than the duration of an error.
    private static let pause = Duration.milliseconds(500)

    private let portal: Portal
    private let state = Mutex(State())

    init(portal: Portal) {
        self.portal = portal
    }

    /// Sets the expected messages.
    func expects(_ msiKeys: Set<String>) {
        state.withLock { $0.expected = msiKeys }
    }

    /// Returns once every message is final or the time is over, with the messages' current states.
    func run(within limit: Duration) async throws {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            let archive = try await portal.archive()
            let isOver = state.withLock { state in
                for message in archive { state.note(message) }
                return state.expected.map { expected in expected.allSatisfy { state.messages[$0]?.isFinal == true } } ?? false
            }
            if isOver { return }
            try await Task.sleep(for: Self.pause)
        }
    }

    func message(_ msiKey: String) -> ArchivedMessage? {
        state.withLock { $0.messages[msiKey] }
    }

    /// The errors of each component, if it had any.
    var errors: [SentComponent: Set<Trouble>] { state.withLock(\.errors) }
}

import TestSupport
import Synchronization

/// Looks at the archive as a portal does until every message has come to its end, and remembers the errors that it has shown on
/// the way.
final class ArchiveWatch: Sendable {
    /// An error as `GET /message/:msi_key` tells it.
    struct Trouble: Hashable, Sendable, CustomStringConvertible {
        let `class`: String
        let code: String

        var description: String { "\(`class`) \(code)" }
    }

    private struct State {
        var messages: [String: ArchivedMessage] = [:]
        var errors: [SentComponent: Set<Trouble>] = [:]
        /// What there has to be; `nil` before that is known.
        var expected: Set<String>?

        mutating func note(_ message: ArchivedMessage) {
            messages[message.msiKey] = message
            for component in message.components {
                guard let code = component.error, let kind = component.errorClass else { continue }
                errors[component.component, default: []].insert(Trouble(class: kind, code: code))
            }
        }
    }

    /// Much shorter than an error lasts.
    private static let pause = Duration.milliseconds(500)

    private let portal: Portal
    private let state = Mutex(State())

    init(portal: Portal) {
        self.portal = portal
    }

    /// Says which messages there are in all.
    func expects(_ msiKeys: Set<String>) {
        state.withLock { $0.expected = msiKeys }
    }

    /// Returns once every message is final, or when the time is over: then its messages tell how far they have come.
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

    /// What each component has been through, where it was anything.
    var errors: [SentComponent: Set<Trouble>] { state.withLock(\.errors) }
}

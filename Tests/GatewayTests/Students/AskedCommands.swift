import Base
import Bus
import FoundationEssentials
import Schemas
import Synchronization

/// The commands that a double of a service gets, and the failures that a test lets some of them have.
final class AskedCommands: Sendable {
    /// A command that it got.
    struct Asked: Sendable {
        let name: String
        let actor: String?
        let credential: CredentialHash?
        let fields: JSONValue
    }

    private struct State {
        var asked: [Asked] = []
        var failures: [String: CommandFailure] = [:]
    }

    private let state = Mutex(State())

    var all: [Asked] { state.withLock(\.asked) }

    /// Lets a command fail; `nil` lets it succeed again.
    func fail(_ command: String, _ failure: CommandFailure?) {
        state.withLock { $0.failures[command] = failure }
    }

    /// Answers a command, and records it.
    ///
    /// - Parameter reply: Gets the command and its actor.
    func answer<C: Command>(
        _ type: C.Type, in router: inout CommandRouter, _ reply: @escaping @Sendable (C, String?) -> C.Reply
    ) {
        router.on(type) { command, context in
            let asked = Asked(
                name: C.name, actor: context.actor, credential: context.credential,
                fields: try JSONValue(parsing: command.payload()))
            let failure = self.state.withLock { state in
                state.asked.append(asked)
                return state.failures[C.name]
            }
            if let failure { throw failure }
            return reply(command, context.actor)
        }
    }
}

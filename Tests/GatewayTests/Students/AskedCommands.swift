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
        /// Those of the third frame; `nil` for none.
        var bytes: Data?
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
            try self.record(command, context)
            return reply(command, context.actor)
        }
    }

    /// As ``answer(_:in:_:)``, for a command with bytes.
    func answer<C: ByteCommand>(bytesOf type: C.Type, in router: inout CommandRouter, _ reply: C.Reply) {
        router.onBytes(type) { command, bytes, context in
            try self.record(command, context, bytes)
            return reply
        }
    }

    /// As ``answer(_:in:_:)``, for a command whose reply has bytes.
    func answer<C: ByteReplyCommand>(
        readOf type: C.Type, in router: inout CommandRouter, _ reply: @escaping @Sendable (C) -> (C.Reply, Data?)
    ) {
        router.onRead(type) { command, context in
            try self.record(command, context)
            return reply(command)
        }
    }

    private func record(_ command: some Command, _ context: CommandContext, _ bytes: Data? = nil) throws {
        let name = type(of: command).name
        let asked = Asked(
            name: name, actor: context.actor, credential: context.credential,
            fields: try JSONValue(parsing: command.payload()), bytes: bytes)
        let failure = state.withLock { state in
            state.asked.append(asked)
            return state.failures[name]
        }
        if let failure { throw failure }
    }
}

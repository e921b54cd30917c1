package import FoundationEssentials
package import Schemas

extension CommandRouter {
    /// Registers the handler of a command whose request has bytes in a third frame. Requests without them, or with too many, do
    /// not reach it.
    ///
    /// - Parameter handler: As of ``on(_:runs:_:)``, with the bytes.
    package mutating func onBytes<C: ByteCommand>(
        _ type: C.Type,
        _ handler: nonisolated(nonsending) @escaping @Sendable (C, Data, CommandContext) async throws -> C.Reply
    ) {
        add(type, maxBytes: C.maxBytes) { payload, bytes, context in
            ReplyFrames(payload: try C.payload(of: await handler(C(payload: payload), bytes, context)))
        }
    }

    /// Registers the handler of a command whose reply may have bytes in a third frame.
    ///
    /// - Parameter handler: As of ``on(_:runs:_:)``. It returns the bytes too; `nil` or an empty value for none.
    package mutating func onRead<C: ByteReplyCommand>(
        _ type: C.Type,
        _ handler: nonisolated(nonsending) @escaping @Sendable (C, CommandContext) async throws -> (C.Reply, Data?)
    ) {
        add(type, maxBytes: 0) { payload, _, context in
            let (reply, bytes) = try await handler(C(payload: payload), context)
            return ReplyFrames(payload: try C.payload(of: reply), bytes: bytes?.isEmpty == false ? bytes : nil)
        }
    }

    private mutating func add<C: Command>(
        _ type: C.Type, maxBytes: Int,
        _ body: nonisolated(nonsending) @escaping @Sendable (Data, Data, CommandContext) async throws -> ReplyFrames
    ) {
        add(C.name, of: C.self, .bytes(max: maxBytes, body))
    }
}

extension CommandRouter.Handler {
    /// Why a request with these bytes must not be handled; `nil` if it may be.
    ///
    /// - Parameters:
    ///   - bytes: Of the third frame; `nil` for a request without one.
    ///   - command: The command's name.
    func refusal(of bytes: Data?, _ command: String) -> CommandFailure? {
        var max = 0
        if case .bytes(let maxBytes, _) = body { max = maxBytes }
        let count = bytes?.count ?? 0
        if max == 0 { return count == 0 ? nil : CommandFailure(.invalid, "\(command) takes no bytes") }
        guard count == 0 || count > max else { return nil }
        return CommandFailure(
            .invalid, "\(command) takes 1 to \(max) bytes in a third frame, found \(count)", field: "")
    }
}

/// What a handler answers: the payload, and the bytes of a third frame, of which there is at least one; `nil` for none.
struct ReplyFrames: Sendable {
    let payload: Data
    var bytes: Data?
}

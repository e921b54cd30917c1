import CommandBus
import Schemas

extension CommandClient {
    /// Waits longer for a reply than the product does by default. These tests share one database server, and some of them keep it
    /// busy; what they assert is what is stored, not how soon.
    nonisolated(nonsending) func request<C: Command>(
        _ command: C, context: RequestContext = .init()
    ) async throws(CommandFailure) -> C.Reply {
        try await request(command, timeout: .seconds(60), context: context)
    }
}

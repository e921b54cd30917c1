import CommandBus
import HTTPTypes
import Schemas
import Time

extension CommandClient {
    /// How long hashing a password may take, with the passwords that are waiting before it.
    private static let passwordTimeout: Duration = .seconds(10)

    /// Sends a command with a password to hash or to check. After too many attempts the answer is 429 with `Retry-After`.
    ///
    /// - Throws: ``Problem``, or ``CommandFailure``.
    func requestWithPassword<C: Command>(_ command: C, context: RequestContext) async throws -> C.Reply {
        do throws(CommandFailure) {
            return try await request(command, timeout: Self.passwordTimeout, context: context)
        } catch {
            guard error.status == .overloaded, let wait = error.retryAfter else { throw error }
            throw Problem(
                .tooManyRequests, error.message, field: error.field, headers: [.retryAfter: "\(Seconds(roundingUp: wait))"])
        }
    }
}

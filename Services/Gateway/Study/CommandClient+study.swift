import Bus
import Schemas

extension CommandClient {
    /// The field of a conflict with the key of another request.
    private static let requestKeyField = "request_key"

    /// Sends a command to the study service in the name of a person. After too many the answer is 429 with `Retry-After`. A key
    /// that was used for another request is 422.
    ///
    /// - Throws: ``Problem``, or ``CommandFailure``.
    func request<C: Command>(_ command: C, for call: PersonCall<some Sendable>) async throws -> C.Reply {
        do {
            return try await requestLimited(command, context: call.caller)
        } catch let failure as CommandFailure where failure.status == .conflict && failure.field == Self.requestKeyField {
            throw Problem(
                .idempotencyKeyReused, "Idempotency-Key: this key was used for another request", field: "Idempotency-Key")
        }
    }

    /// Sends a command about friends and profiles to the people service in the name of a person.
    ///
    /// - Returns: `nil` for an account of the staff, which has neither friends nor a profile.
    /// - Throws: ``CommandFailure``.
    func requestUnlessStaff<C: Command>(_ command: C, for call: PersonCall<some Sendable>) async throws -> C.Reply? {
        do throws(CommandFailure) {
            return try await request(command, context: call.caller)
        } catch {
            guard error.status == .forbidden else { throw error }
            return nil
        }
    }
}

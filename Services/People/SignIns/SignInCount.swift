import CoreMetrics
import Instruments
import Schemas

/// Counts the attempts to sign in, by their outcome.
enum SignInCount: String {
    case password
    /// At the university's provider.
    case openID = "openid"

    /// - Parameter attempt: Throws if the sign-in fails.
    func count<Value>(
        isolation: isolated (any Actor)? = #isolation, _ attempt: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await attempt()
            add(.ok)
            return value
        } catch {
            add((error as? CommandFailure)?.status ?? .internal)
            throw error
        }
    }

    private func add(_ outcome: ReplyStatus) {
        Instrument.signIns.counter(["way": rawValue, "outcome": outcome.rawValue]).increment()
    }
}

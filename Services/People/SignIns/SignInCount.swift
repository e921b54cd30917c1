import CoreMetrics
import Instruments
import JSON
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
            switch error {
            case let failure as CommandFailure: add(failure.status)
            case is SchemaViolation: add(.invalid)
            default: add(.internal)
            }
            throw error
        }
    }

    private func add(_ outcome: ReplyStatus) {
        Instrument.signIns.counter(["way": rawValue, "outcome": outcome.rawValue]).increment()
    }
}

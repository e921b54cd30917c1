import Base
import Schemas
import Synchronization

/// Limits the sign-ins on devices by account: each may end a device, and all gateways remember every end for hours. Each instance of the
/// service counts for itself.
final class SignInLimits: Sendable {
    /// The attempts that count here are right ones.
    private let table = Mutex(AttemptTable<String>(.signIns))

    /// Does a sign-in, which counts if it succeeds.
    ///
    /// - Parameter account: The name in lower case; `nil` if there is none, and nothing is counted.
    /// - Throws: ``CommandFailure`` with `overloaded` if there were too many; the error of the sign-in.
    func count<Value: Sendable>(_ account: String?, _ signIn: () async throws -> Value) async throws -> Value {
        guard let account else { return try await signIn() }
        if let wait = begin(account, now: .now) {
            throw CommandFailure(
                .overloaded, "you have signed in too often; try again later", retryAfter: max(1, Milliseconds(wait)))
        }
        do {
            return try await signIn()
        } catch {
            table.withLock { $0.uncount(account) }
            throw error
        }
    }

    /// Counts a sign-in, unless it has to wait.
    ///
    /// - Returns: How long it has to wait; `nil` if it need not.
    func begin(_ account: String, now: ContinuousClock.Instant) -> Duration? {
        table.withLock { table -> Duration? in
            let wait = table.wait(for: account, now: now)
            guard wait <= .zero else { return wait }
            table.count(account, now: now)
            return nil
        }
    }
}

extension AttemptLimit {
    /// As many as ``PersonLimits/signIns`` at once, and the same number in ten minutes from then on.
    static var signIns: AttemptLimit {
        AttemptLimit(
            free: PersonLimits.signIns, wait: .constant(Duration.seconds(600) / PersonLimits.signIns),
            memory: .seconds(600))
    }
}

import DedicatedThread
import Glibc
import Schemas
import Time

/// Hashes passwords on threads of its own with a low priority, so that sign-ins do not slow other requests. The number of threads
/// and the number of waiting passwords are limited.
final class PasswordHashing: Sendable {
    /// Of the threads, in the system's "nice" scale from -20 to 19.
    private static let niceness: Int32 = 12

    /// Of new hashes.
    let parameters: PasswordHash.Parameters
    private let unknown: PasswordHash
    private let threads: BlockingThreads

    /// - Parameters:
    ///   - threads: By default half of the processors, at least one.
    ///   - maxWaiting: The maximum number of waiting passwords. A longer queue would only let its callers run into their timeouts.
    init(
        parameters: PasswordHash.Parameters = .current, threads: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2),
        maxWaiting: Int = 32
    ) {
        self.parameters = parameters
        unknown = .unknown(parameters)
        self.threads = BlockingThreads(maxThreads: threads, maxWaiting: maxWaiting)
    }

    /// - Throws: ``CommandFailure`` with `overloaded` if too many passwords wait.
    func hash(_ password: Secret) async throws -> PasswordHash {
        try await run { [parameters] in try PasswordHash(of: password, parameters: parameters) }
    }

    /// Whether a hash is that of a password.
    ///
    /// - Parameter hash: `nil` if there is none: no password matches, and the answer takes as long.
    /// - Throws: As ``hash(_:)``.
    func matches(_ hash: PasswordHash?, _ password: Secret) async throws -> Bool {
        try await run { [unknown] in try (hash ?? unknown).matches(password) }
    }

    /// Waits until the threads have ended.
    func close() async {
        await threads.close()
    }

    private func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let isAccepted = threads.submit {
                // On Linux this concerns only the calling thread. Without it, hashing works as well.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
                continuation.resume(with: Result(catching: work))
            }
            guard isAccepted else {
                return continuation.resume(
                    throwing: CommandFailure(
                        .overloaded, "too many passwords are being checked; try again", retryAfter: .seconds(1)))
            }
        }
    }
}

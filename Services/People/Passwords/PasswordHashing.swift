import Base
import Glibc
import Schemas
import ServiceKit
import Synchronization

/// Hashes passwords on separate threads with a low priority, so that sign-ins do not slow other requests. The number of threads
/// and the number of waiting passwords are limited. Those of ``Caller/known`` go first and have their own places.
final class PasswordHashing: Sendable {
    /// Who waits for a hash.
    enum Caller: Hashable, Sendable {
        /// A person who is signed in, or who signs in from an address that recently sent the account's correct password.
        case known
        /// Anyone, at an address if it is known.
        case anyone(IPAddress?)
    }

    private typealias Job = @Sendable (_ hasPlace: Bool) -> Void

    /// Of the threads, in the system's "nice" scale from -20 to 19.
    private static let niceness: Int32 = 12

    /// Of new hashes.
    let parameters: PasswordHash.Parameters
    private let unknown: PasswordHash
    private let threads: BlockingThreads
    /// Each waiting password has a job of the threads, which takes whatever is next.
    private let waiting: Mutex<(known: FairQueue<Job>, others: FairQueue<Job>)>

    /// - Parameters:
    ///   - threads: By default half of the processors, at least one.
    ///   - maxWaiting: The maximum number of waiting passwords of known callers, and of others. In a longer queue callers would
    ///     only reach their timeouts.
    init(
        parameters: PasswordHash.Parameters = .current, threads: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2),
        maxWaiting: Int = 32
    ) {
        self.parameters = parameters
        unknown = .unknown(parameters)
        self.threads = BlockingThreads(maxThreads: threads, maxWaiting: 2 * maxWaiting + threads)
        waiting = Mutex((FairQueue(maxWaiting: maxWaiting), FairQueue(maxWaiting: maxWaiting)))
    }

    /// - Throws: ``CommandFailure`` with `overloaded` if too many passwords wait.
    func hash(_ password: Secret, for caller: Caller = .known) async throws -> PasswordHash {
        try await run(for: caller) { [parameters] in try PasswordHash(of: password, parameters: parameters) }
    }

    /// Whether a hash is that of a password.
    ///
    /// - Parameter hash: `nil` if there is none: no password matches, and the answer takes as long.
    /// - Throws: As ``hash(_:)``.
    func matches(_ hash: PasswordHash?, _ password: Secret, for caller: Caller) async throws -> Bool {
        try await run(for: caller) { [unknown] in try (hash ?? unknown).matches(password) }
    }

    /// Waits until the threads have ended.
    func close() async {
        await threads.close()
    }

    private func run<Value: Sendable>(
        for caller: Caller, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            add(caller) { hasPlace in
                guard hasPlace else {
                    return continuation.resume(
                        throwing: CommandFailure(
                            .overloaded, "too many passwords are being checked; try again", retryAfter: .seconds(1)))
                }
                // On Linux this concerns only the calling thread. Without it, hashing works as well.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
                continuation.resume(with: Result(catching: work))
            }
        }
    }

    private func add(_ caller: Caller, _ job: @escaping Job) {
        let refused = waiting.withLock { waiting in
            switch caller {
            case .known: waiting.known.add(job, from: nil)
            case .anyone(let address): waiting.others.add(job, from: address)
            }
        }
        // The job of the one that is refused is now that of another one.
        if let refused { return refused(false) }
        let isAccepted = threads.submit { self.next()?(true) }
        // The threads cannot be started, or are closed.
        if !isAccepted { next()?(false) }
    }

    private func next() -> Job? {
        waiting.withLock { $0.known.next() ?? $0.others.next() }
    }
}

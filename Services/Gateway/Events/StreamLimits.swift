import HTTPTypes
import Schemas
import Synchronization

/// Limits the number of open streams of events, so that they leave connections for everything else: of each credential, of each account,
/// and in total. The operator's token has only the last limit.
final class StreamLimits: Sendable {
    /// The maximum number of streams of a sign-in or token: a browser's tabs share one.
    static let maxPerCredential = 16
    static let maxPerAccount = 32

    private struct Open {
        var all = 0
        var ofCredential: [CredentialHash: Int] = [:]
        var ofAccount: [AccountName: Int] = [:]
    }

    /// The maximum number of all streams.
    let maxStreams: Int
    private let open = Mutex(Open())

    /// - Parameter maxConnections: The maximum number of connections. Streams may be half of them.
    init(maxConnections: Int) {
        maxStreams = max(1, maxConnections / 2)
    }

    /// The number of open streams.
    var count: Int { open.withLock(\.all) }

    /// Counts a stream. It counts until the place is released.
    ///
    /// - Throws: ``Problem`` if there are too many streams.
    func takePlace(for principal: Principal) throws(Problem) -> StreamPlace {
        try open.withLock { open throws(Problem) in
            if !principal.isOperator {
                guard open.ofCredential[principal.hash, default: 0] < Self.maxPerCredential else {
                    throw Self.tooMany("This sign-in or token has \(Self.maxPerCredential) streams of events already.")
                }
                guard open.ofAccount[principal.account, default: 0] < Self.maxPerAccount else {
                    throw Self.tooMany("\(principal.account) has \(Self.maxPerAccount) streams of events already.")
                }
            }
            guard open.all < maxStreams else {
                throw Problem(.overloaded, "The gateway has \(maxStreams) streams of events already.")
            }
            open.all += 1
            open.ofCredential[principal.hash, default: 0] += 1
            open.ofAccount[principal.account, default: 0] += 1
        }
        return StreamPlace(of: principal, in: self)
    }

    private static func tooMany(_ detail: String) -> Problem {
        Problem(.tooManyRequests, detail, headers: [.retryAfter: "10"])
    }

    fileprivate func release(_ principal: Principal) {
        open.withLock { open in
            open.all -= 1
            Self.remove(principal.hash, from: &open.ofCredential)
            Self.remove(principal.account, from: &open.ofAccount)
        }
    }

    private static func remove<Key: Hashable>(_ key: Key, from counts: inout [Key: Int]) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}

/// The place of an open stream in ``StreamLimits``. The answer owns it, and it is released with the answer, even if a `HEAD`, or a
/// connection that breaks early, never begins the stream.
final class StreamPlace: Sendable {
    private let principal: Principal
    private let limits: StreamLimits

    fileprivate init(of principal: Principal, in limits: StreamLimits) {
        self.principal = principal
        self.limits = limits
    }

    deinit {
        limits.release(principal)
    }
}

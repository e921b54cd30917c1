import HTTPTypes
import Schemas
import Synchronization

/// Limits the number of open streams of events, so that they leave connections for everything else: of each credential, of each device of a
/// person, of each account, and in total. The operator's token has only the last limit.
final class StreamLimits: Sendable {
    /// The maximum number of streams of a sign-in or token: a browser's tabs share one.
    static let maxPerCredential = 16
    /// The maximum number of streams of a person's device: an app has one, and a stream that is being replaced may be another.
    static let maxPerDevice = 4
    static let maxPerAccount = 32

    private struct Open {
        var all = 0
        var ofCredential: [StreamHolder.Credential: Int] = [:]
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
    func takePlace(for holder: StreamHolder) throws(Problem) -> StreamPlace {
        try open.withLock { open throws(Problem) in
            if let max = holder.max {
                guard open.ofCredential[holder.credential, default: 0] < max else {
                    throw Self.tooMany("\(holder.name) has \(max) streams of events already.")
                }
                guard open.ofAccount[holder.account, default: 0] < Self.maxPerAccount else {
                    throw Self.tooMany("\(holder.account) has \(Self.maxPerAccount) streams of events already.")
                }
            }
            guard open.all < maxStreams else {
                throw Problem(.overloaded, "The gateway has \(maxStreams) streams of events already.")
            }
            open.all += 1
            open.ofCredential[holder.credential, default: 0] += 1
            open.ofAccount[holder.account, default: 0] += 1
        }
        return StreamPlace(of: holder, in: self)
    }

    private static func tooMany(_ detail: String) -> Problem {
        Problem(.tooManyRequests, detail, headers: [.retryAfter: "10"])
    }

    fileprivate func release(_ holder: StreamHolder) {
        open.withLock { open in
            open.all -= 1
            Self.remove(holder.credential, from: &open.ofCredential)
            Self.remove(holder.account, from: &open.ofAccount)
        }
    }

    private static func remove<Key: Hashable>(_ key: Key, from counts: inout [Key: Int]) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}

/// Who has a stream of events.
struct StreamHolder: Sendable {
    fileprivate enum Credential: Hashable {
        case staff(CredentialHash)
        case device(ObjectID)
    }

    fileprivate let credential: Credential
    fileprivate let account: AccountName
    /// The maximum number of streams of the credential; `nil` for no limit of the credential and the account.
    fileprivate let max: Int?
    /// The credential in the text of an error.
    fileprivate let name: String

    init(_ principal: Principal) {
        credential = .staff(principal.hash)
        account = principal.account
        max = principal.isOperator ? nil : StreamLimits.maxPerCredential
        name = "This sign-in or token"
    }

    init(_ person: PersonCaller) {
        credential = .device(person.device)
        account = person.account
        max = StreamLimits.maxPerDevice
        name = "This device"
    }
}

/// The place of an open stream in ``StreamLimits``. The answer owns it, and it is released with the answer, even if a `HEAD`, or a
/// connection that breaks early, never begins the stream.
final class StreamPlace: Sendable {
    private let holder: StreamHolder
    private let limits: StreamLimits

    fileprivate init(of holder: StreamHolder, in limits: StreamLimits) {
        self.holder = holder
        self.limits = limits
    }

    deinit {
        limits.release(holder)
    }
}

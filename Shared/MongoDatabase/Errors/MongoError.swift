/// Why the database did not do what it was asked for.
package struct MongoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure. The list is closed: it is fit for a metric's label.
    package enum Code: String, CaseIterable, Sendable {
        /// A unique index has an entry like that already.
        case duplicateKey = "duplicate_key"
        /// No server answers, or the connection broke. Whether a write was done is not known.
        case notReachable = "not_reachable"
        /// A server took too long. Whether a write was done is not known.
        case timedOut = "timed_out"
        /// The server is no longer, or not yet, the one that takes writes.
        case notPrimary = "not_primary"
        /// Another change of the same document came first, or the transaction was ended for another passing reason.
        case transactionFailed = "transaction_failed"
        /// The server does not know the user, or not with that password.
        case notAuthenticated = "not_authenticated"
        /// The user may not do that.
        case notAuthorised = "not_authorised"
        /// The server's disk is full.
        case storageFull = "storage_full"
        /// The connection string cannot be used.
        case badURL = "bad_url"
        /// The server lacks something that the product needs.
        case unsuitable
        /// Too many operations wait already.
        case overloaded
        /// Anything else, by its message.
        case other
    }

    package let code: Code
    /// libmongoc's or the server's own words, at most 300 characters.
    package let message: String
    /// Whether every other operation would fail the same way: the server is away, or may be, where it has only timed out.
    let meansAway: Bool
    /// What the driver's specification calls TransientTransactionError: nothing was done, run the transaction again.
    let isTransient: Bool
    /// What the driver's specification calls UnknownTransactionCommitResult: commit again.
    let isCommitUnknown: Bool

    package init(_ code: Code, _ message: String) {
        self.init(code, message, meansAway: false)
    }

    init(
        _ code: Code, _ message: String, meansAway: Bool, isTransient: Bool = false, isCommitUnknown: Bool = false
    ) {
        self.code = code
        self.message = String(message.prefix(300))
        self.meansAway = meansAway
        self.isTransient = isTransient
        self.isCommitUnknown = isCommitUnknown
    }

    package var description: String { "\(code.rawValue): \(message)" }
}

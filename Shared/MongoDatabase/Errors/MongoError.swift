/// Why an operation of the database failed.
package struct MongoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure: a closed list, usable as a metric label.
    package enum Code: String, CaseIterable, Sendable {
        /// A unique index already has this entry.
        case duplicateKey = "duplicate_key"
        /// No server answers, or the connection broke. The outcome of a write is unknown.
        case notReachable = "not_reachable"
        /// A server took too long. The outcome of a write is unknown.
        case timedOut = "timed_out"
        /// The server is not the primary.
        case notPrimary = "not_primary"
        /// A conflict with another change, or another transient error, has ended the transaction.
        case transactionFailed = "transaction_failed"
        /// The user or the password is wrong.
        case notAuthenticated = "not_authenticated"
        /// The user lacks the right.
        case notAuthorised = "not_authorised"
        /// The server's disk is full.
        case storageFull = "storage_full"
        /// An index with this name or these keys exists in another form.
        case indexConflict = "index_conflict"
        /// There is no index with this name.
        case noIndex = "no_index"
        /// The collection does not exist.
        case noCollection = "no_collection"
        /// The connection string cannot be used.
        case badURL = "bad_url"
        /// The server lacks something that the product needs.
        case unsuitable
        /// `msi restore` has not ended. No data was read or written.
        case unfinishedRestore = "unfinished_restore"
        /// Too many operations are waiting.
        case overloaded
        /// Anything else, by its message.
        case other
    }

    package let code: Code
    /// libmongoc's or the server's own words, at most 300 characters.
    package let message: String
    /// Whether other operations would fail the same way, because the server is unreachable. After a timeout it may be.
    let meansUnreachable: Bool
    /// The label `TransientTransactionError`: nothing was written, repeat the transaction.
    let isTransient: Bool
    /// The label `UnknownTransactionCommitResult`: commit again.
    let isCommitUnknown: Bool

    package init(_ code: Code, _ message: String) {
        self.init(code, message, meansUnreachable: false)
    }

    init(
        _ code: Code, _ message: String, meansUnreachable: Bool, isTransient: Bool = false, isCommitUnknown: Bool = false
    ) {
        self.code = code
        self.message = String(message.prefix(300))
        self.meansUnreachable = meansUnreachable
        self.isTransient = isTransient
        self.isCommitUnknown = isCommitUnknown
    }

    package var description: String { "\(code.rawValue): \(message)" }
}

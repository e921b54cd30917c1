import CMongoC
import Schemas
import Base

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
        /// The collection does not exist.
        case noCollection = "no_collection"
        /// The connection string cannot be used.
        case badURL = "bad_url"
        /// The server lacks something that the product needs.
        case unsuitable
        /// Another version has written the data in a form that this one does not know.
        case unknownFormat = "unknown_format"
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

extension MongoError {
    /// Converts an error of libmongoc or of the server.
    ///
    /// - Parameters:
    ///   - reply: The server's reply. Its labels say whether to retry.
    ///   - tookTooLong: Whether the operation took as long as the socket's timeout: libmongoc does not distinguish a timeout from
    ///     a broken connection.
    init(_ error: bson_error_t, reply: OpaquePointer? = nil, tookTooLong: Bool = false) {
        var error = error
        let message = String(cString: cmongoc_error_message(&error))
        let (code, meansUnreachable) = Self.classify(
            domain: mongoc_error_domain_t(error.domain), code: error.code, message: message, tookTooLong: tookTooLong)
        func has(_ label: String) -> Bool { reply.map { mongoc_error_has_label($0, label) } ?? false }
        self.init(
            code, message, meansUnreachable: meansUnreachable, isTransient: has("TransientTransactionError"),
            isCommitUnknown: has("UnknownTransactionCommitResult"))
    }

    private static func classify(
        domain: mongoc_error_domain_t, code: UInt32, message: String, tookTooLong: Bool
    ) -> (Code, meansUnreachable: Bool) {
        switch domain {
        case MONGOC_ERROR_STREAM, MONGOC_ERROR_POOL:
            (tookTooLong ? .timedOut : .notReachable, true)
        case MONGOC_ERROR_SERVER_SELECTION:
            // libmongoc reports a failed authentication as an unreachable server.
            (message.contains("uthentication failed") ? .notAuthenticated : .notReachable, true)
        case MONGOC_ERROR_CLIENT where code == MONGOC_ERROR_CLIENT_AUTHENTICATE.rawValue, MONGOC_ERROR_SCRAM, MONGOC_ERROR_SASL:
            (.notAuthenticated, true)
        case MONGOC_ERROR_CLIENT where code == MONGOC_ERROR_CLIENT_NO_ACCEPTABLE_PEER.rawValue:
            (.notReachable, true)
        case MONGOC_ERROR_SERVER, MONGOC_ERROR_WRITE_CONCERN:
            classify(serverCode: Int32(truncatingIfNeeded: code))
        default:
            (.other, false)
        }
    }

    /// The server's own codes (error_codes.yml of MongoDB's source).
    static func classify(serverCode: Int32) -> (Code, meansUnreachable: Bool) {
        switch serverCode {
        case 11_000, 11_001, 12_582: (.duplicateKey, false)
        // MaxTimeMSExpired, WriteConcernFailed (its time is over), ExceededTimeLimit, NetworkInterfaceExceededTimeLimit
        case 50, 64, 262, 202: (.timedOut, false)
        // HostUnreachable, HostNotFound, NetworkTimeout, SocketException
        case 6, 7, 89, 9_001: (.notReachable, false)
        // PrimarySteppedDown, ShutdownInProgress, NotWritablePrimary, InterruptedAtShutdown,
        // InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary
        case 189, 91, 10_107, 11_600, 11_602, 13_435, 13_436, 10_058: (.notPrimary, false)
        // WriteConflict, NoSuchTransaction, LockTimeout, SnapshotUnavailable
        case 112, 251, 24, 246: (.transactionFailed, false)
        case 18: (.notAuthenticated, true)
        case 13: (.notAuthorised, false)
        case 14_031: (.storageFull, false)
        // IndexOptionsConflict, IndexKeySpecsConflict
        case 85, 86: (.indexConflict, false)
        // NamespaceNotFound
        case 26: (.noCollection, false)
        default: (.other, false)
        }
    }

    /// The failure for a caller on the bus. The caller can wait until the database is reachable or has space. Other
    /// errors are internal.
    ///
    /// It names no server: libmongoc's message is only for the log.
    package var failure: any Error {
        switch code {
        case .notReachable: away("no server answers")
        case .timedOut: away("it takes too long")
        case .notPrimary: away("its servers are choosing a new primary")
        case .transactionFailed: away("too many change the same thing")
        case .notAuthenticated, .notAuthorised: away("it refuses the service's user")
        case .unsuitable: away("the server lacks something that the service needs")
        case .unknownFormat: away("another version has written the data in a form that this one does not know")
        case .unfinishedRestore: away("msi restore has not ended")
        case .storageFull: CommandFailure(.storageFull, "the disk of the database is full")
        case .overloaded: CommandFailure(.overloaded, "too many operations wait for the database")
        case .duplicateKey, .indexConflict, .noCollection, .badURL, .other: self
        }
    }

    /// The failure, if other writes would fail the same way, and reads would not.
    var failureOfWrites: CommandFailure? {
        switch code {
        case .timedOut, .notAuthorised, .storageFull: failure as? CommandFailure
        default: nil
        }
    }

    /// Runs the work of a store, and turns ``MongoError`` into ``CommandFailure``.
    package static func asFailure<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as MongoError {
            throw error.failure
        }
    }

    private func away(_ reason: String) -> CommandFailure {
        CommandFailure(.unavailable, "the database is not available: \(reason)", retryAfter: 2_000)
    }
}

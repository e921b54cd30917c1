import CMongoC

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
        // IndexNotFound
        case 27: (.noIndex, false)
        // NamespaceNotFound
        case 26: (.noCollection, false)
        default: (.other, false)
        }
    }
}

import CMongoC
import Glibc
import Time

extension MongoConnection {
    /// Runs operations in a transaction with snapshot isolation.
    ///
    /// If others have changed the same documents meanwhile, it is repeated, for a few seconds.
    ///
    /// - Parameter body: May run more than once. An error that it throws aborts the transaction.
    package func transaction<Value>(_ body: (MongoConnection) throws -> Value) throws -> Value {
        var error = bson_error_t()
        guard let session = mongoc_client_start_session(client, nil, &error) else { throw MongoError(error) }
        defer { mongoc_client_session_destroy(session) }
        var inside = self
        inside.session = session
        var backoff = Backoff.contention()
        while true {
            do {
                try start(session)
                let value: Value
                do {
                    value = try body(inside)
                } catch {
                    // If the abort does not reach the server, the server ends the transaction by itself.
                    mongoc_client_session_abort_transaction(session, nil)
                    throw error
                }
                try commit(session, &backoff)
                return value
            } catch let error as MongoError {
                guard error.isTransient, !error.meansUnreachable, Self.pause(&backoff) else { throw error }
            }
        }
    }

    private func start(_ session: OpaquePointer) throws {
        let options = mongoc_transaction_opts_new()
        defer { mongoc_transaction_opts_destroy(options) }
        let concern = mongoc_read_concern_new()
        defer { mongoc_read_concern_destroy(concern) }
        mongoc_read_concern_set_level(concern, MONGOC_READ_CONCERN_LEVEL_SNAPSHOT)
        mongoc_transaction_opts_set_read_concern(options, concern)
        var error = bson_error_t()
        guard mongoc_client_session_start_transaction(session, options, &error) else { throw MongoError(error) }
    }

    /// Commits. It repeats the commit while the outcome is unknown: a second commit changes nothing.
    private func commit(_ session: OpaquePointer, _ backoff: inout Backoff) throws {
        while true {
            do {
                _ = try reporting { try call { mongoc_client_session_commit_transaction(session, $0, $1) } }
                return
            } catch let error as MongoError {
                guard error.isCommitUnknown, !error.isTransient, !error.meansUnreachable, Self.pause(&backoff) else {
                    throw error
                }
            }
        }
    }

    /// - Returns: Whether to try again.
    private static func pause(_ backoff: inout Backoff) -> Bool {
        guard let pause = backoff.nextPause() else { return false }
        // This thread may block.
        usleep(UInt32(pause / .microseconds(1)))
        return true
    }
}

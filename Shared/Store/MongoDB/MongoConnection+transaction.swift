import CMongoC
import Glibc
package import Base

/// A transaction on one connection.
final class MongoTransaction {
    let session: OpaquePointer
    /// Whether an operation has written. The commit of another transaction shows nothing about writes.
    var hasWritten = false

    init(_ session: OpaquePointer) {
        self.session = session
    }
}

extension MongoConnection {
    /// Runs operations in a transaction with snapshot isolation.
    ///
    /// After a conflict with another writer it is repeated, for a few seconds.
    ///
    /// - Parameter body: May run more than once. An error that it throws aborts the transaction.
    package func transaction<Value>(_ body: (MongoConnection) throws -> Value) throws -> Value {
        var error = bson_error_t()
        guard let session = mongoc_client_start_session(client, nil, &error) else { throw MongoError(error) }
        defer { mongoc_client_session_destroy(session) }
        var backoff = Backoff.contention()
        while true {
            let transaction = MongoTransaction(session)
            var inside = self
            inside.transaction = transaction
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
                try commit(transaction, &backoff)
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
    private func commit(_ transaction: MongoTransaction, _ backoff: inout Backoff) throws {
        while true {
            do {
                let commit = { try call { mongoc_client_session_commit_transaction(transaction.session, $0, $1) } }
                _ = try transaction.hasWritten ? reporting(commit) : commit()
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

extension Backoff {
    /// Retries after conflicts with other writers: for five seconds from now on, with growing, random pauses.
    package static func contention() -> Backoff {
        Backoff(
            first: .milliseconds(1), factor: 1.5, max: .milliseconds(100), jitter: 0.5...1, deadline: .now + .seconds(5))
    }
}

import Schemas
import Time

extension MongoError {
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
        case .unfinishedRestore: away("msi restore has not ended")
        case .storageFull: CommandFailure(.storageFull, "the disk of the database is full")
        case .overloaded: CommandFailure(.overloaded, "too many operations wait for the database")
        case .duplicateKey, .indexConflict, .noIndex, .noCollection, .badURL, .other: self
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

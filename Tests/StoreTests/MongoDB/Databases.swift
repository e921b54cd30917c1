import Schemas
import TestSupport
import Testing

@testable import Store

/// Runs a test with its own database on the shared server.
func withDatabase<Result>(
    options: [String] = [], isolation: isolated (any Actor)? = #isolation, _ body: (MongoDatabase) async throws -> Result
) async throws -> Result {
    try await withDatabase(at: try await MongoServer.shared.url(options: options), body)
}

/// Runs a test with a database, and closes it.
func withDatabase<Result>(
    at url: String, log: RecordedLog = RecordedLog(), isolation: isolated (any Actor)? = #isolation,
    _ body: (MongoDatabase) async throws -> Result
) async throws -> Result {
    let database = await MongoDatabase.open(try MongoURL(url), application: "test", logger: log.logger)
    do {
        let result = try await body(database)
        await database.close()
        return result
    } catch {
        await database.close()
        throw error
    }
}

/// The database error that a body throws.
func mongoFailure(_ body: () async throws -> Void) async -> MongoError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? MongoError
    }
}

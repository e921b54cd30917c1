/// The databases of a store. A test runs for each of them.
package enum StoreKind: String, CaseIterable, Sendable {
    case sqlite, mongodb

    /// The connection string of an unused database; `nil` for a file.
    package func newDatabaseURL() async throws -> String? {
        switch self {
        case .sqlite: nil
        // On a busy machine the server may need long for an answer.
        case .mongodb: try await MongoServer.shared.url(options: ["socketTimeoutMS=60000"])
        }
    }
}

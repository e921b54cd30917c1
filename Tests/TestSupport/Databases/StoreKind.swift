/// The databases that a store may be kept in: what holds for one holds for all.
package enum StoreKind: String, CaseIterable, Sendable {
    case sqlite, mongodb

    /// The connection string of a database that nothing else uses; `nil` for a file.
    package func newDatabaseURL() async throws -> String? {
        switch self {
        case .sqlite: nil
        case .mongodb: try await MongoServer.shared.url()
        }
    }
}

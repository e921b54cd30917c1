package import MongoDatabase

/// Where a service keeps its stores.
package struct StoragePlace: Sendable {
    let database: MongoURL?
    let folder: String

    /// Whether the stores are SQLite files.
    package var isFolder: Bool { database == nil }

    /// - Parameters:
    ///   - database: MongoDB; `nil` for SQLite files.
    ///   - folder: The folder of these files.
    package init(database: MongoURL?, folder: String) {
        self.database = database
        self.folder = folder
    }
}

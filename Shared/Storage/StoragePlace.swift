package import MongoDatabase

/// Where a service keeps its stores.
package struct StoragePlace: Sendable {
    let database: MongoURL?
    let folder: String

    /// - Parameters:
    ///   - database: MongoDB; `nil` for SQLite files.
    ///   - folder: The folder of these files.
    package init(database: MongoURL?, folder: String) {
        self.database = database
        self.folder = folder
    }
}

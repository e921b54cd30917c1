import EmbeddedDatabase
import GRDB
package import Schemas

extension SQLiteCubeStore {
    /// Raises the version of a restored cube. Its objects count as changed in the new version: an edit of one that was seen after the backup
    /// is then a conflict, and no client takes the restored cube for a later one that had the same number.
    ///
    /// - Parameter raised: Gets the version of the backup.
    package func raiseVersion(_ raised: @escaping @Sendable (CubeVersion) -> CubeVersion) async throws {
        try await database.write { database in
            let version = raised(try CubeQueries.version(in: database))
            for table in ["cube", ChannelRow.databaseTableName, AreaRow.databaseTableName, SubjectRow.databaseTableName] {
                try database.execute(sql: "UPDATE \(table) SET version = ?", arguments: [version])
            }
        }
    }
}

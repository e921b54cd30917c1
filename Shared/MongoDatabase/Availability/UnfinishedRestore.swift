/// The mark of a restore that has begun to fill a database and has not ended.
///
/// The data may be half that of the backup, so no service uses it. The mark is in the database itself, because the services of other
/// machines do not see the restore's state directory.
enum UnfinishedRestore {
    static let collection = "msi_restore"
    static let document: BSONDocument = ["_id": "unfinished"]

    static let reason = MongoError(
        .unfinishedRestore, "msi restore is filling this database, or was interrupted; run it again to finish that")
}

extension MongoConnection {
    /// Keeps services from the database until ``removeRestoreMark()``.
    package func markRestore() throws {
        _ = try update(
            UnfinishedRestore.document, ["$set": ["by": "msi restore"]], in: UnfinishedRestore.collection,
            options: ["upsert": true])
    }

    package func removeRestoreMark() throws {
        _ = try delete(UnfinishedRestore.document, from: UnfinishedRestore.collection)
    }

    /// - Throws: ``MongoError`` with code `unfinishedRestore`.
    func requireNoUnfinishedRestore() throws {
        let marks = try find(UnfinishedRestore.document, in: UnfinishedRestore.collection)
        guard marks.isEmpty else { throw UnfinishedRestore.reason }
    }
}

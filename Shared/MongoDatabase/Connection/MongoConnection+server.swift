extension MongoConnection {
    /// Checks that the server has transactions.
    ///
    /// - Throws: ``MongoError`` with code `unsuitable` for a standalone server.
    package func checkTransactions() throws {
        let hello = try BSONFields(read(["hello": 1], in: "admin"))
        let isReplicaSet = try hello.optional("setName", as: String.self) != nil
        let isSharded = try hello.optional("msg", as: String.self) == "isdbgrid"
        guard isReplicaSet || isSharded else {
            throw MongoError(
                .unsuitable,
                "the server is standalone and has no transactions; make it a replica set, which may have one member")
        }
    }

    /// The space on the disk of the server's files, in bytes; `nil` if the server does not report it.
    package func diskRoom() throws -> (free: Int64, total: Int64)? {
        let sizes = try BSONFields(read(["dbStats": 1]))
        guard let total = try sizes.optional("fsTotalSize", as: Int64.self), total > 0,
            let used = try sizes.optional("fsUsedSize", as: Int64.self)
        else { return nil }
        return (total - used, total)
    }
}

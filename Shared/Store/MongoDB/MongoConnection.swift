import CMongoC

/// One client of the pool, for one operation. All calls block. It must not leave the closure that it was lent to.
package struct MongoConnection {
    let client: OpaquePointer
    let url: MongoURL
    private let socketTimeout: Duration
    private let writes: WriteHealth
    /// The transaction that the operations belong to.
    var transaction: MongoTransaction?

    /// Whether the operations belong to a transaction. The first failure ends it.
    package var isInTransaction: Bool { transaction != nil }

    init(client: OpaquePointer, url: MongoURL, socketTimeout: Duration, writes: WriteHealth) {
        self.client = client
        self.url = url
        self.socketTimeout = socketTimeout
        self.writes = writes
    }

    // MARK: Reading

    /// Finds documents on the primary.
    ///
    /// - Parameter options: `sort`, `limit`, `projection`, `hint`, …
    package func find(
        _ filter: BSONDocument, in collection: String, options: BSONDocument = [:]
    ) throws -> [BSONDocument] {
        try withCollection(collection) { collection in
            try withOptions(options, isLimited: true) { options in
                try filter.withBSON { filter in
                    try documents(mongoc_collection_find_with_opts(collection, filter, options, nil))
                }
            }
        }
    }

    /// Runs an aggregation pipeline on the primary.
    package func aggregate(_ stages: [BSONDocument], in collection: String) throws -> [BSONDocument] {
        let pipeline: BSONDocument = ["pipeline": stages.bson]
        return try withCollection(collection) { collection in
            try withOptions([:], isLimited: true) { options in
                try pipeline.withBSON { pipeline in
                    try documents(mongoc_collection_aggregate(collection, MONGOC_QUERY_NONE, pipeline, options, nil))
                }
            }
        }
    }

    /// Runs a read command, such as `hello` or `dbStats`, and returns the server's reply.
    package func read(_ command: BSONDocument, in database: String? = nil) throws -> BSONDocument {
        try run(command, isLimited: true) { command, options, reply, error in
            mongoc_client_read_command_with_opts(client, database ?? url.database, command, nil, options, reply, error)
        }
    }

    /// Pings the server once.
    package func ping() throws {
        // Not as a read command, which libmongoc would repeat.
        let ping: BSONDocument = ["ping": 1]
        _ = try ping.withBSON { ping in
            try call { mongoc_client_command_simple(client, url.database, ping, nil, $0, $1) }
        }
    }

    // MARK: Writing

    /// Runs a write command, such as `findAndModify` or `createIndexes`, and returns the server's reply.
    package func write(_ command: BSONDocument, in database: String? = nil) throws -> BSONDocument {
        try reporting {
            try run(command, isLimited: false) { command, options, reply, error in
                mongoc_client_write_command_with_opts(client, database ?? url.database, command, options, reply, error)
            }
        }
    }

    /// Updates the first matching document, or all of them.
    ///
    /// - Parameter options: `arrayFilters`, `upsert`, …
    package func update(
        _ filter: BSONDocument, _ change: BSONDocument, in collection: String, all: Bool = false, options: BSONDocument = [:]
    ) throws -> MongoUpdate {
        let reply = try reporting {
            try withCollection(collection) { collection in
                try withOptions(options) { options in
                    try filter.withBSON { filter in
                        try change.withBSON { change in
                            try call { reply, error in
                                all
                                    ? mongoc_collection_update_many(collection, filter, change, options, reply, error)
                                    : mongoc_collection_update_one(collection, filter, change, options, reply, error)
                            }
                        }
                    }
                }
            }
        }
        let fields = try BSONFields(reply)
        return MongoUpdate(matched: try fields.value("matchedCount"), modified: try fields.value("modifiedCount"))
    }

    /// Deletes all matching documents.
    ///
    /// - Returns: How many were deleted.
    package func delete(_ filter: BSONDocument, from collection: String) throws -> Int64 {
        let reply = try reporting {
            try withCollection(collection) { collection in
                try withOptions([:]) { options in
                    try filter.withBSON { filter in
                        try call { mongoc_collection_delete_many(collection, filter, options, $0, $1) }
                    }
                }
            }
        }
        return try BSONFields(reply).value("deletedCount")
    }

    /// Runs a write, and reports its outcome. Within a transaction only the commit makes it durable.
    func reporting<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            let value = try body()
            if let transaction { transaction.hasWritten = true } else { writes.ended(nil) }
            return value
        } catch let error as MongoError {
            if let failure = error.failureOfWrites { writes.ended(failure) }
            throw error
        }
    }

    // MARK: Calling libmongoc

    /// Reads all documents of a cursor and destroys it.
    private func documents(_ cursor: OpaquePointer?) throws -> [BSONDocument] {
        defer { mongoc_cursor_destroy(cursor) }
        let start = ContinuousClock.now
        var documents: [BSONDocument] = []
        var document: OpaquePointer?
        while mongoc_cursor_next(cursor, &document) {
            if let document { documents.append(BSONDocument(copying: document)) }
        }
        var error = bson_error_t()
        var reply: OpaquePointer?
        guard !mongoc_cursor_error_document(cursor, &error, &reply) else {
            throw MongoError(error, reply: reply, tookTooLong: tookTooLong(since: start))
        }
        return documents
    }

    func withCollection<Value>(_ name: String, _ body: (OpaquePointer?) throws -> Value) rethrows -> Value {
        let collection = mongoc_client_get_collection(client, url.database, name)
        defer { mongoc_collection_destroy(collection) }
        return try body(collection)
    }

    /// Lends options, with the session if there is one.
    ///
    /// - Parameter isLimited: Whether to set `maxTimeMS`, so that the server gives up before the socket's timeout breaks the
    ///   connection. libmongoc supports that only for reads.
    func withOptions<Value>(
        _ options: BSONDocument, isLimited: Bool = false, _ body: (OpaquePointer) throws -> Value
    ) throws -> Value {
        let limit = Int64(socketTimeout * 0.8 / .milliseconds(1))
        return try (isLimited && limit > 0 ? options.with("maxTimeMS", .int64(limit)) : options).withBSON { options in
            if let transaction {
                var error = bson_error_t()
                guard mongoc_client_session_append(transaction.session, options, &error) else { throw MongoError(error) }
            }
            return try body(options)
        }
    }

    /// Calls a function that fills in a reply, and returns the reply.
    func call(_ body: (OpaquePointer, UnsafeMutablePointer<bson_error_t>) -> Bool) throws -> BSONDocument {
        var error = bson_error_t()
        let reply = cmongoc_reply_new()
        defer { cmongoc_reply_destroy(reply) }
        let start = ContinuousClock.now
        guard let reply, body(reply, &error) else {
            throw MongoError(error, reply: reply, tookTooLong: tookTooLong(since: start))
        }
        return BSONDocument(copying: reply)
    }

    private func run(
        _ command: BSONDocument, isLimited: Bool,
        _ body: (OpaquePointer, OpaquePointer, OpaquePointer, UnsafeMutablePointer<bson_error_t>) -> Bool
    ) throws -> BSONDocument {
        try withOptions([:], isLimited: isLimited) { options in
            try command.withBSON { command in try call { body(command, options, $0, $1) } }
        }
    }

    func tookTooLong(since start: ContinuousClock.Instant) -> Bool {
        ContinuousClock.now - start > socketTimeout * 0.9
    }
}

/// How many documents an update matched and modified.
package struct MongoUpdate: Hashable, Sendable {
    package let matched: Int64
    package let modified: Int64
}

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

import CMongoC

/// One client of the pool, for the length of one operation. Everything here blocks; nothing of it may leave the closure that
/// it was handed to.
package struct MongoConnection {
    let client: OpaquePointer
    let url: MongoURL
    private let socketTimeout: Duration
    /// The session of the transaction that the operations belong to.
    var session: OpaquePointer?

    init(client: OpaquePointer, url: MongoURL, socketTimeout: Duration, session: OpaquePointer? = nil) {
        self.client = client
        self.url = url
        self.socketTimeout = socketTimeout
        self.session = session
    }

    // MARK: Reading

    /// The documents that match, read from the primary.
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

    /// What comes out of a pipeline of stages, run by the primary.
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

    /// Runs a command that reads, such as `hello` or `dbStats`, and returns the server's reply.
    package func read(_ command: BSONDocument, in database: String? = nil) throws -> BSONDocument {
        try run(command, isLimited: true) { command, options, reply, error in
            mongoc_client_read_command_with_opts(client, database ?? url.database, command, nil, options, reply, error)
        }
    }

    /// Asks the server for a sign of life, once.
    package func ping() throws {
        // libmongoc would send again what is known to be a read.
        let ping: BSONDocument = ["ping": 1]
        _ = try ping.withBSON { ping in
            try call { mongoc_client_command_simple(client, url.database, ping, nil, $0, $1) }
        }
    }

    // MARK: Writing

    /// Runs a command that writes, such as `findAndModify` or `createIndexes`, and returns the server's reply.
    package func write(_ command: BSONDocument, in database: String? = nil) throws -> BSONDocument {
        try run(command, isLimited: false) { command, options, reply, error in
            mongoc_client_write_command_with_opts(client, database ?? url.database, command, options, reply, error)
        }
    }

    /// Changes the first document that matches, or all that do.
    ///
    /// - Parameter options: `arrayFilters`, `upsert`, …
    package func update(
        _ filter: BSONDocument, _ change: BSONDocument, in collection: String, all: Bool = false, options: BSONDocument = [:]
    ) throws -> MongoUpdate {
        let reply = try withCollection(collection) { collection in
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
        let fields = try BSONFields(reply)
        return MongoUpdate(matched: try fields.value("matchedCount"), modified: try fields.value("modifiedCount"))
    }

    /// Removes every document that matches.
    ///
    /// - Returns: How many there were.
    package func delete(_ filter: BSONDocument, from collection: String) throws -> Int64 {
        let reply = try withCollection(collection) { collection in
            try withOptions([:]) { options in
                try filter.withBSON { filter in
                    try call { mongoc_collection_delete_many(collection, filter, options, $0, $1) }
                }
            }
        }
        return try BSONFields(reply).value("deletedCount")
    }

    // MARK: Calling libmongoc

    /// All that a cursor gives. It is destroyed.
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

    /// Lends options, with the session in them where there is one.
    ///
    /// - Parameter isLimited: Whether the server is to give up, and to say so, before the socket's time-out breaks the
    ///   connection. libmongoc can say that with reads alone.
    func withOptions<Value>(
        _ options: BSONDocument, isLimited: Bool = false, _ body: (OpaquePointer) throws -> Value
    ) throws -> Value {
        let limit = Int64(socketTimeout * 0.8 / .milliseconds(1))
        return try (isLimited && limit > 0 ? options.with("maxTimeMS", .int64(limit)) : options).withBSON { options in
            if let session {
                var error = bson_error_t()
                guard mongoc_client_session_append(session, options, &error) else { throw MongoError(error) }
            }
            return try body(options)
        }
    }

    /// Calls a function that fills in a reply, and returns that.
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

/// How many documents an update found, and how many of them it changed.
package struct MongoUpdate: Hashable, Sendable {
    package let matched: Int64
    package let modified: Int64
}

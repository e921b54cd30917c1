import CMongoC

/// The changes of a collection since the stream was opened.
package struct ChangeStream {
    /// How long the server waits for a change in one call.
    private static let waitTimeout = Duration.milliseconds(250)

    private let stream: OpaquePointer

    /// Waits briefly for a change.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``MongoError``. The code is `other` or `not_authorised` if the server has no change streams, the user may not
    ///   use them, or this one cannot continue.
    package func hasChange() throws -> Bool {
        var event: OpaquePointer?
        if mongoc_change_stream_next(stream, &event) { return true }
        try check()
        return false
    }

    private func check() throws {
        var error = bson_error_t()
        var reply: OpaquePointer?
        if mongoc_change_stream_error_document(stream, &error, &reply) { throw MongoError(error, reply: reply) }
    }

    fileprivate init(of collection: OpaquePointer?) throws {
        // The changed documents are read separately: an event need not carry them.
        let pipeline: BSONDocument = ["pipeline": [["$project": ["_id": 1]]]]
        let options: BSONDocument = ["maxAwaitTimeMS": .int64(Int64(Self.waitTimeout / .milliseconds(1)))]
        stream = pipeline.withBSON { pipeline in
            options.withBSON { mongoc_collection_watch(collection, pipeline, $0) }
        }
        do {
            try check()
        } catch {
            close()
            throw error
        }
    }

    fileprivate func close() {
        mongoc_change_stream_destroy(stream)
    }
}

extension MongoConnection {
    /// Opens a change stream of a collection and lends it.
    package func withChanges<Value>(of collection: String, _ body: (ChangeStream) throws -> Value) throws -> Value {
        try withCollection(collection) { collection in
            let changes = try ChangeStream(of: collection)
            defer { changes.close() }
            return try body(changes)
        }
    }
}

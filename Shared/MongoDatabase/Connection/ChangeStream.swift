import CMongoC

/// The changes of a collection from the moment on that the stream was opened.
package struct ChangeStream {
    /// How long one question waits at the server for a change.
    private static let patience = Duration.milliseconds(250)

    private let stream: OpaquePointer

    /// Waits for a moment for a change.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``MongoError``; code `other` or `not_authorised` where the server has no change streams, the user may not follow
    ///   them, or this one cannot go on.
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
        // What has changed is read anyway: an event need not carry it.
        let pipeline: BSONDocument = ["pipeline": [["$project": ["_id": 1]]]]
        let options: BSONDocument = ["maxAwaitTimeMS": .int64(Int64(Self.patience / .milliseconds(1)))]
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
    /// Lends the changes of a collection from now on.
    package func withChanges<Value>(of collection: String, _ body: (ChangeStream) throws -> Value) throws -> Value {
        try withCollection(collection) { collection in
            let changes = try ChangeStream(of: collection)
            defer { changes.close() }
            return try body(changes)
        }
    }
}

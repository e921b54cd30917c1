import CMongoC

/// An update of one document.
package struct DocumentUpdate: Hashable, Sendable {
    package let filter: BSONDocument
    package let change: BSONDocument

    package init(_ filter: BSONDocument, _ change: BSONDocument) {
        self.filter = filter
        self.change = change
    }
}

/// What the server says about several updates. It does not say which of them have matched.
package struct BulkUpdate: Hashable, Sendable {
    /// How many updates have matched a document.
    package let matched: Int
    /// For each update its error, or `nil`.
    package let errors: [MongoError?]

    /// Whether every update without an error has matched a document.
    package var allMatched: Bool { matched == errors.count { $0 == nil } }
}

extension MongoConnection {
    /// Performs several updates with one command, unordered: each one independently of the others. Each changes the first matching
    /// document.
    ///
    /// - Throws: ``MongoError`` if the outcome of all of them is unknown.
    package func update(_ updates: [DocumentUpdate], in collection: String) throws -> BulkUpdate {
        // libmongoc refuses a command without updates.
        guard !updates.isEmpty else { return BulkUpdate(matched: 0, errors: []) }
        return try reporting {
            try withCollection(collection) { collection in
                try withOptions(["ordered": false]) { options in
                    let bulk = mongoc_collection_create_bulk_operation_with_opts(collection, options)
                    defer { mongoc_bulk_operation_destroy(bulk) }
                    var error = bson_error_t()
                    for update in updates {
                        let isValid = update.filter.withBSON { filter in
                            update.change.withBSON { mongoc_bulk_operation_update_one_with_opts(bulk, filter, $0, nil, &error) }
                        }
                        guard isValid else { throw MongoError(error) }
                    }
                    return try execute(bulk, of: updates.count)
                }
            }
        }
    }

    private func execute(_ bulk: OpaquePointer?, of count: Int) throws -> BulkUpdate {
        var error = bson_error_t()
        let reply = cmongoc_reply_new()
        defer { cmongoc_reply_destroy(reply) }
        let start = ContinuousClock.now
        let isDone = mongoc_bulk_operation_execute(bulk, reply, &error) != 0
        let failure = isDone ? nil : MongoError(error, reply: reply, tookTooLong: tookTooLong(since: start))
        guard let reply else { throw failure ?? MongoError(.other, "libmongoc gives no reply") }
        let document = BSONDocument(copying: reply)
        var errors = [MongoError?](repeating: nil, count: count)
        if let failure {
            guard let each = try Self.errors(in: document, of: count) else { throw failure }
            errors = each
        }
        return BulkUpdate(matched: Int(try BSONFields(document).value("nMatched", as: Int64.self)), errors: errors)
    }
}

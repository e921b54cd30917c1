import CMongoC

extension MongoConnection {
    /// Inserts documents with one command, unordered: each one independently of the others.
    ///
    /// - Returns: For each document its error, or `nil` if it is stored.
    /// - Throws: ``MongoError`` if the outcome of all of them is unknown.
    package func insert(_ documents: [BSONDocument], into collection: String) throws -> [MongoError?] {
        var copies = documents.map { Optional($0.copied()) }
        defer { copies.forEach { bson_destroy($0) } }
        return try reporting {
            try withCollection(collection) { collection in
                try withOptions(["ordered": false]) { options in
                    var error = bson_error_t()
                    let reply = cmongoc_reply_new()
                    defer { cmongoc_reply_destroy(reply) }
                    let start = ContinuousClock.now
                    let isDone = mongoc_collection_insert_many(collection, &copies, copies.count, options, reply, &error)
                    if isDone { return Array(repeating: nil, count: documents.count) }
                    let failure = MongoError(error, reply: reply, tookTooLong: tookTooLong(since: start))
                    guard let reply, let errors = try Self.errors(in: BSONDocument(copying: reply), of: documents.count) else {
                        throw failure
                    }
                    return errors
                }
            }
        }
    }

    /// The error of each document; `nil` if the reply also has other errors.
    private static func errors(in reply: BSONDocument, of count: Int) throws -> [MongoError?]? {
        let fields = try BSONFields(reply)
        let writeErrors = try fields["writeErrors"] == nil ? [] : fields.list("writeErrors")
        let concernErrors = try fields["writeConcernErrors"] == nil ? [] : fields.list("writeConcernErrors")
        guard !writeErrors.isEmpty, concernErrors.isEmpty else { return nil }
        var errors = [MongoError?](repeating: nil, count: count)
        for error in writeErrors {
            let index = Int(try error.value("index", as: Int64.self))
            guard errors.indices.contains(index) else { throw BSONError("field writeErrors: no document \(index) was sent") }
            let (code, meansUnreachable) = MongoError.classify(serverCode: try error.value("code"))
            errors[index] = MongoError(code, try error.optional("errmsg") ?? "", meansUnreachable: meansUnreachable)
        }
        return errors
    }
}

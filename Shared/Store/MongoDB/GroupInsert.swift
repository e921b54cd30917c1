import CMongoC

/// Inserts documents into a collection, with one command for all documents that wait at the same time.
package struct GroupInsert: Sendable {
    private let group: GroupWrite<@Sendable () throws -> BSONDocument, Void>

    package init(database: MongoDatabase, collection: String) {
        group = GroupWrite(database: database) { connection, items in
            let documents = items.map { item in Result { try item() } }
            var errors = try connection.insert(documents.compactMap { try? $0.get() }, into: collection)[...]
            return documents.map { document in
                document.flatMap { _ in errors.removeFirst().map { .failure($0) } ?? .success(()) }
            }
        }
    }

    /// Stores a document, and returns once it is durable.
    ///
    /// - Parameter document: Makes the document, on a thread of the database.
    /// - Throws: The ``MongoError`` of this document, independently of the others in the same command, or the error of its making.
    package func insert(_ document: @escaping @Sendable () throws -> BSONDocument) async throws {
        try await group.write(document)
    }
}

extension MongoConnection {
    /// Inserts documents with one command, unordered: each one independently of the others.
    ///
    /// - Returns: For each document its error, or `nil` if it is stored.
    /// - Throws: ``MongoError`` if the outcome of all of them is unknown.
    package func insert(_ documents: [BSONDocument], into collection: String) throws -> [MongoError?] {
        // libmongoc refuses a command without documents.
        guard !documents.isEmpty else { return [] }
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
                    guard let reply else { throw failure }
                    let document = BSONDocument(copying: reply)
                    guard let errors = try Self.errors(in: document, of: documents.count) else { throw failure }
                    let inserted = try BSONFields(document).optional("insertedCount", as: Int64.self) ?? 0
                    guard Int(inserted) + errors.count(where: { $0 != nil }) == documents.count else {
                        throw MongoError(.notReachable, "the connection broke between two parts of a large insertion")
                    }
                    return errors
                }
            }
        }
    }

    /// The error of each document or update; `nil` if the reply also has other errors.
    static func errors(in reply: BSONDocument, of count: Int) throws -> [MongoError?]? {
        let fields = try BSONFields(reply)
        let writeErrors = try fields["writeErrors"] == nil ? [] : fields.list("writeErrors")
        let concernErrors = try fields["writeConcernErrors"] == nil ? [] : fields.list("writeConcernErrors")
        guard !writeErrors.isEmpty, concernErrors.isEmpty else { return nil }
        var errors = [MongoError?](repeating: nil, count: count)
        for error in writeErrors {
            let index = Int(try error.value("index", as: Int64.self))
            guard errors.indices.contains(index) else { throw BSONError("field writeErrors: no write \(index) was sent") }
            let (code, meansUnreachable) = MongoError.classify(serverCode: try error.value("code"))
            errors[index] = MongoError(code, try error.optional("errmsg") ?? "", meansUnreachable: meansUnreachable)
        }
        return errors
    }
}

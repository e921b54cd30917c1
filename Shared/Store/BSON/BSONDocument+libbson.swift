import CMongoC

extension BSONDocument {
    /// Lends a copy to a function of libmongoc. The pointer is valid only within the closure.
    func withBSON<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        let bson = copied()
        defer { bson_destroy(bson) }
        return try body(bson)
    }

    /// Makes a copy for libmongoc. The caller destroys it.
    func copied() -> OpaquePointer {
        let bson = bytes.withUnsafeBufferPointer { bson_new_from_data($0.baseAddress, $0.count) }
        guard let bson else { preconditionFailure("libbson does not accept this document") }
        return bson
    }

    /// Copies a document that libmongoc owns.
    init(copying bson: OpaquePointer) {
        let view = UnsafeBufferPointer(start: bson_get_data(bson), count: Int(cmongoc_length(bson)))
        self.init(unchecked: Array(view)[...])
    }

    /// The document as MongoDB's Extended JSON (relaxed): an ObjectId is `{"$oid": "…"}`, a whole number a number.
    ///
    /// - Throws: ``BSONError`` for a text that is not UTF-8, which another program may have stored.
    package var extendedJSON: String {
        get throws(BSONError) {
            let text = withBSON { bson_as_relaxed_extended_json($0, nil) }
            guard let text else { throw BSONError("it cannot be written as JSON") }
            defer { bson_free(text) }
            return String(cString: text)
        }
    }

    /// Reads Extended JSON. A whole number is an int32 where it fits, otherwise an int64.
    ///
    /// - Throws: ``BSONError`` for anything else.
    package init(extendedJSON text: String) throws(BSONError) {
        var error = bson_error_t()
        var text = text
        let bson = text.withUTF8 { bson_new_from_json($0.baseAddress, $0.count, &error) }
        guard let bson else { throw BSONError("it is no JSON document: \(String(cString: cmongoc_error_message(&error)))") }
        defer { bson_destroy(bson) }
        self.init(copying: bson)
    }
}

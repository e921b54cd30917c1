import CMongoC

extension BSONDocument {
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

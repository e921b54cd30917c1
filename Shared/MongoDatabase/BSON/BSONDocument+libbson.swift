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
}

import CMongoC

extension BSONDocument {
    /// Lends a copy to a function of libmongoc; the pointer is good only within the closure.
    func withBSON<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        let bson = copied()
        defer { bson_destroy(bson) }
        return try body(bson)
    }

    /// A copy for libmongoc; destroy it after use.
    func copied() -> OpaquePointer {
        let bson = bytes.withUnsafeBufferPointer { bson_new_from_data($0.baseAddress, $0.count) }
        guard let bson else { preconditionFailure("libbson takes what is written here for no document") }
        return bson
    }

    /// Copies what libmongoc owns.
    init(copying bson: OpaquePointer) {
        let view = UnsafeBufferPointer(start: bson_get_data(bson), count: Int(cmongoc_length(bson)))
        self.init(unchecked: Array(view)[...])
    }
}

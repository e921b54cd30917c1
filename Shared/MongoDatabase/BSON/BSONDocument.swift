/// A MongoDB document as its bytes (bsonspec.org), made from fields or read from the database.
///
/// A nested document shares the bytes of the outer one.
package struct BSONDocument: Hashable, Sendable {
    /// The complete document: length, elements, final zero.
    let bytes: ArraySlice<UInt8>

    /// Takes bytes without a check. The reader checks them.
    init(unchecked bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Takes bytes of another program.
    ///
    /// - Throws: ``BSONError`` if they are not a document.
    package init(bytes: [UInt8]) throws(BSONError) {
        self.init(unchecked: bytes[...])
        _ = try BSONFields(self)
    }

    /// Makes a document with the fields in this order.
    package init(_ fields: some Sequence<(String, BSONValue)>) {
        var writer = BSONWriter()
        writer.document(fields)
        bytes = writer.bytes[...]
    }

    /// Lends its bytes.
    package func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try bytes.withUnsafeBytes(body)
    }

    package var isEmpty: Bool { bytes.count <= 5 }

    /// Adds a field at the end.
    package func with(_ key: String, _ value: BSONValue) -> BSONDocument {
        var writer = BSONWriter(appendingTo: bytes)
        writer.element(key, value)
        return BSONDocument(unchecked: writer.closed()[...])
    }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral fields: (String, BSONValue)...) {
        self.init(fields)
    }
}

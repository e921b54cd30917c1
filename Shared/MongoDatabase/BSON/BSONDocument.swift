/// A MongoDB document as its bytes (bsonspec.org): made from fields, or come from the database.
///
/// Its bytes are a part of those of the document that it is in, where it is in one.
package struct BSONDocument: Hashable, Sendable {
    /// The whole: length, elements, final zero.
    let bytes: ArraySlice<UInt8>

    /// Takes bytes as they are: what reads them finds out whether they are a document.
    init(unchecked bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// The fields in this order.
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

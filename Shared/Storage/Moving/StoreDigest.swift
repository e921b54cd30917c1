import Crypto
package import FoundationEssentials
import JSON

/// A digest of a store's documents. Two stores with equal digests contain the same documents, in any order.
package struct StoreDigest: Hashable, CustomStringConvertible, Sendable {
    package var count = 0
    /// The exclusive or of the documents' SHA-256. No document occurs twice, so documents do not cancel each other out.
    private var bytes = [UInt8](repeating: 0, count: SHA256.byteCount)

    package init() {}

    /// Adds a document by its JSON.
    package mutating func add(_ document: some Encodable) throws {
        add(try JSONCoder.encode(document))
    }

    /// Adds a document.
    ///
    /// - Parameter document: Its bytes, in a form that is the same on both sides.
    package mutating func add(_ document: Data) {
        count += 1
        for (index, byte) in SHA256.hash(data: document).enumerated() { bytes[index] ^= byte }
    }

    /// The first eight bytes, which are enough to compare by eye.
    package var description: String {
        bytes.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}

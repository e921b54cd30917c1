import FoundationEssentials
import JSON
import Schemas

/// A received request header. A header of the common form is decoded at once, which is cheaper than keeping its bytes.
enum ReceivedHeader: Sendable {
    case plain(SharedHeader)
    case other([UInt8])

    init(_ bytes: UnsafeRawBufferPointer) {
        if let header = RequestHeader(plain: bytes) {
            self = .plain(SharedHeader(header))
        } else {
            self = .other([UInt8](bytes))
        }
    }

    /// - Throws: ``SchemaViolation``.
    func read() throws -> SharedHeader {
        switch self {
        case .plain(let header): header
        case .other(let bytes): SharedHeader(try JSONCoder.decodeStrictly(from: Data(bytes)))
        }
    }

    /// The id for the reply; empty if it cannot be read.
    var id: String {
        switch self {
        case .plain(let header): header.fields.id
        case .other(let bytes): (try? read().fields.id) ?? RequestHeader.readableID(in: bytes)
        }
    }
}

/// A request's header on the heap. It is passed along so often that copies would cost more than the allocation.
final class SharedHeader: Sendable {
    let fields: RequestHeader

    init(_ fields: RequestHeader) {
        self.fields = fields
    }
}

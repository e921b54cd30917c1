import FoundationEssentials
import JSON
import Schemas

/// A request's header as it came: read where it is of the common form, which costs less than to keep its bytes.
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
        case .other(let bytes): SharedHeader(try JSONCoder.decode(from: Data(bytes)))
        }
    }

    /// The id, so that its sender can tell which request an answer is about; empty where there is none to be read.
    var id: String {
        switch self {
        case .plain(let header): header.fields.id
        case .other(let bytes): (try? read().fields.id) ?? RequestHeader.readableID(in: bytes)
        }
    }
}

/// A request's header in one place: it is handed along so often that its copies would cost more than itself.
final class SharedHeader: Sendable {
    let fields: RequestHeader

    init(_ fields: RequestHeader) {
        self.fields = fields
    }
}

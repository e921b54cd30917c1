import FoundationEssentials
import Schemas

/// A request's header as it came: read where it is of the common form, which costs less than to keep its bytes.
enum ReceivedHeader: Sendable {
    case plain(RequestHeader)
    case other([UInt8])

    init(_ bytes: UnsafeRawBufferPointer) {
        if let header = RequestHeader(plain: bytes) {
            self = .plain(header)
        } else {
            self = .other([UInt8](bytes))
        }
    }

    /// - Throws: ``SchemaViolation``.
    func read() throws -> RequestHeader {
        switch self {
        case .plain(let header): header
        case .other(let bytes): try SchemaJSON.decode(from: Data(bytes))
        }
    }

    /// The id, so that its sender can tell which request an answer is about; empty where there is none to be read.
    var id: String {
        switch self {
        case .plain(let header): header.id
        case .other(let bytes): (try? read().id) ?? RequestHeader.readableID(in: bytes)
        }
    }
}

import HTTPRouting
import HTTPTypes
import NIOCore
import NIOHTTP1

/// The bytes of answers in HTTP/1 with the security headers. Pure.
///
/// NIO's handlers would copy each header field several times: into the list of another library, with the framing, and into bytes.
struct AnswerEncoder {
    private let security: SecurityHeaders
    /// The framing of the answer whose head was encoded last.
    private(set) var frame: AnswerFrame?

    init(_ security: SecurityHeaders) {
        self.security = security
    }

    /// An informational answer, such as `100 Continue`.
    func informational(_ head: HTTPResponse, into bytes: inout ByteBuffer) {
        bytes.write(head.status.inHTTP1, isOld: false)
        for field in head.headerFields { bytes.write(field) }
        bytes.writeStaticString("\r\n")
    }

    /// The head of an answer.
    ///
    /// - Parameter isLast: Whether the connection ends after it, even if its header does not say so.
    mutating func head(_ head: HTTPResponse, to request: FramedRequest, isLast: Bool, into bytes: inout ByteBuffer) {
        let (status, known) = (head.status.inHTTP1, AnswerTraits(head))
        let frame = AnswerFrame(
            to: request, mayHaveBody: status.mayHaveResponseBody, hasLength: known.hasLength,
            isLast: isLast || known.endsConnection)
        self.frame = frame
        bytes.write(status, isOld: request.isOld)
        for field in head.headerFields {
            switch AnswerTraits.Framing(field.name) {
            case .length where !frame.keepsLength, .connection where frame.connection != nil, .transferEncoding: break
            case nil, .length, .connection: bytes.write(field)
            }
        }
        bytes.writeImmutableBuffer(security.bytes(for: known))
        if frame.isChunked { bytes.writeStaticString("Transfer-Encoding: chunked\r\n") }
        if let connection = frame.connection {
            bytes.writeStaticString("Connection: ")
            bytes.writeStaticString(connection)
            bytes.writeStaticString("\r\n")
        }
        bytes.writeStaticString("\r\n")
    }

    /// The beginning of a chunk.
    func chunk(of size: Int, into bytes: inout ByteBuffer) {
        bytes.writeString(String(size, radix: 16))
        bytes.writeStaticString("\r\n")
    }

    /// The end of an answer in chunks.
    func end(_ trailers: HTTPFields?, into bytes: inout ByteBuffer) {
        bytes.writeStaticString("0\r\n")
        for field in trailers ?? [:] { bytes.write(field) }
        bytes.writeStaticString("\r\n")
    }

    /// The answer is complete. Another one has another framing.
    mutating func answerEnded() {
        frame = nil
    }
}

/// What the framing and the security headers depend on in an answer's head.
struct AnswerTraits {
    /// The fields that the framing may change.
    enum Framing {
        case length, connection, transferEncoding

        init?(_ name: HTTPField.Name) {
            // Most names differ in their length.
            switch name.canonicalName.utf8.count {
            case 10 where name == .connection: self = .connection
            case 14 where name == .contentLength: self = .length
            case 17 where name == .transferEncoding: self = .transferEncoding
            default: return nil
            }
        }
    }

    let isUnchanged: Bool
    private(set) var isPage = false
    /// Whether the answer names its own `Content-Security-Policy`.
    private(set) var hasPolicy = false
    private(set) var hasCacheControl = false
    private(set) var hasTag = false
    private(set) var hasLength = false
    /// Whether `Connection` says that the connection ends.
    private(set) var endsConnection = false

    init(_ head: HTTPResponse) {
        isUnchanged = head.status == .notModified
        for field in head.headerFields {
            switch field.name.canonicalName.utf8.count {
            case 4: if field.name == .eTag { hasTag = true }
            case 10: if field.name == .connection, field.value.lowercased() == "close" { endsConnection = true }
            case 12: if field.name == .contentType, field.value.utf8.starts(with: "text/html".utf8) { isPage = true }
            case 13: if field.name == .cacheControl { hasCacheControl = true }
            case 14: if field.name == .contentLength { hasLength = true }
            case 23: if field.name == .contentSecurityPolicy { hasPolicy = true }
            default: break
            }
        }
    }
}

extension HTTPResponse.Status {
    /// The status with NIO's reason phrase, which is that of the older RFC for some codes.
    fileprivate var inHTTP1: HTTPResponseStatus { HTTPResponseStatus(statusCode: code, reasonPhrase: reasonPhrase) }
}

extension ByteBuffer {
    fileprivate mutating func write(_ status: HTTPResponseStatus, isOld: Bool) {
        switch status {
        case .ok where !isOld: writeStaticString("HTTP/1.1 200 OK\r\n")
        case .created where !isOld: writeStaticString("HTTP/1.1 201 Created\r\n")
        case .notModified where !isOld: writeStaticString("HTTP/1.1 304 Not Modified\r\n")
        default:
            writeStaticString(isOld ? "HTTP/1.0 " : "HTTP/1.1 ")
            writeString("\(status.code) \(status.reasonPhrase)\r\n")
        }
    }

    mutating func write(_ field: HTTPField) {
        writeString(field.name.rawName)
        writeStaticString(": ")
        writeString(field.value)
        writeStaticString("\r\n")
    }
}

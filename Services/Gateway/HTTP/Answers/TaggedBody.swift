import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// A body that rarely changes, with the entity tags of its forms. It must not have secrets, since compression could reveal them
/// (BREACH).
struct TaggedBody: Sendable {
    /// The body as it is sent.
    struct Form: Sendable {
        let bytes: ByteBuffer
        let tag: String
    }

    let plain: Form
    /// Made for the first client that accepts it, since a gateway has many files; that of a large one at once, since it would delay other
    /// connections then. `nil` if it would not be smaller.
    var gzip: Form? { compressed.form }

    private let compressed: Compressed

    init(_ bytes: Data) {
        let digest = SHA256.hash(data: bytes).shortText
        plain = Form(bytes: ByteBuffer(bytes: bytes), tag: "\"\(digest)\"")
        compressed = Compressed(plain.bytes, tag: "\"\(digest)-gzip\"")
        if bytes.count > Gzip.maxOnConnectionThread { _ = compressed.form }
    }

    private final class Compressed: Sendable {
        private let plain: ByteBuffer
        private let tag: String
        private let made = Mutex<Form??>(nil)

        init(_ plain: ByteBuffer, tag: String) {
            (self.plain, self.tag) = (plain, tag)
        }

        var form: Form? {
            made.withLock { made in
                if let made { return made }
                let form = Gzip.compress(plain, level: Gzip.bestLevel).map { Form(bytes: $0, tag: tag) }
                made = .some(form)
                return form
            }
        }
    }
}

extension Answer where Value == NoContent {
    /// A body that rarely changes, compressed if the client accepts that; 304 if the request's `If-None-Match` has the tag of that form.
    ///
    /// - Parameter cacheControl: By default, the client asks again before each use.
    init(
        body: TaggedBody, _ contentType: String, for call: OpenCall<NoBody>, status: HTTPResponse.Status? = nil,
        cacheControl: String = "no-cache"
    ) {
        let gzip = call.request.acceptsGzip ? body.gzip : nil
        let form = gzip ?? body.plain
        var headers: HTTPFields = [.eTag: form.tag, .cacheControl: cacheControl, .vary: "Accept-Encoding"]
        if status == nil, call.request.knows(form.tag, isEncoded: true) {
            self = .notModified(headers: headers)
        } else {
            headers[.contentType] = contentType
            if gzip != nil { headers[.contentEncoding] = "gzip" }
            self.init(body: .pieces(of: form.bytes, on: call.context.channel), status: status, headers: headers)
        }
    }
}

extension Data {
    /// An entity tag that is equal for equal bytes.
    var entityTag: String { "\"\(SHA256.hash(data: self).shortText)\"" }
}

extension SHA256Digest {
    /// The first half of the digest's hexadecimal digits, which is enough to tell versions apart.
    var shortText: String {
        prefix(16).map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }
}

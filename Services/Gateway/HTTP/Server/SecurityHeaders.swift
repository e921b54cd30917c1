import HTTPTypes
import NIOCore

/// The header fields that restrict what browsers may do with an answer.
struct SecurityHeaders: Sendable {
    /// The fields of a page, of any other document, and of an answer that gets no policy here.
    private let page: Fields
    private let document: Fields
    private let withoutPolicy: Fields

    /// The bytes of the fields for the three ways of caching, made once because every answer gets them.
    private struct Fields {
        /// For an answer with its own `Cache-Control`.
        let common: ByteBuffer
        let withTag: ByteBuffer
        let withoutTag: ByteBuffer

        init(_ common: [HTTPField]) {
            self.common = Self.bytes(of: common)
            withTag = Self.bytes(of: common + [HTTPField(name: .cacheControl, value: "private, no-cache")])
            withoutTag = Self.bytes(of: common + [HTTPField(name: .cacheControl, value: "no-store")])
        }

        private static func bytes(of fields: [HTTPField]) -> ByteBuffer {
            var bytes = ByteBuffer()
            for field in fields { bytes.write(field) }
            return bytes
        }
    }

    /// What an HTML page may load: files of the gateway itself, and pictures, such as that of a message, from any `https` server.
    /// It may have no script and no style in the page itself, and no script may be made from text.
    private static let pagePolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; font-src 'self'; \
        connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; require-trusted-types-for 'script'; \
        frame-ancestors 'none'
        """
    /// For anything but a page: a browser that shows it may load and run nothing.
    private static let documentPolicy = "default-src 'none'; frame-ancestors 'none'"
    /// The policy of a service worker, which its answer names: it loads files and modules of the gateway.
    static let workerPolicy =
        "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'"

    /// - Parameter isPublic: Whether the gateway has a public `https` URL. Browsers then use no other scheme for its name.
    init(isPublic: Bool) {
        // A browser must not interpret JSON as a script or a page, and other sites must not embed an answer.
        let common =
            [
                HTTPField(name: .xContentTypeOptions, value: "nosniff"),
                HTTPField(name: .xFrameOptions, value: "DENY"),
                HTTPField(name: .referrerPolicy, value: "no-referrer"),
                HTTPField(name: .crossOriginResourcePolicy, value: "same-origin"),
                HTTPField(name: .crossOriginOpenerPolicy, value: "same-origin"),
            ] + (isPublic ? [HTTPField(name: .strictTransportSecurity, value: "max-age=31536000")] : [])
        page = Fields(common + [HTTPField(name: .contentSecurityPolicy, value: Self.pagePolicy)])
        document = Fields(common + [HTTPField(name: .contentSecurityPolicy, value: Self.documentPolicy)])
        // A cache updates the fields of its stored document from a 304 (RFC 9111, section 3.2). So a 304 has no policy, and the
        // document keeps the one that it came with.
        withoutPolicy = Fields(common)
    }

    /// The fields for an answer, as they are sent.
    ///
    /// The policy of an answer that names its own stays. An answer without `Cache-Control` is not cached. With an `ETag` only its reader's own cache may store it, and must ask the
    /// gateway before each use.
    func bytes(for answer: AnswerTraits) -> ByteBuffer {
        let fields = answer.isUnchanged || answer.hasPolicy ? withoutPolicy : answer.isPage ? page : document
        return answer.hasCacheControl ? fields.common : answer.hasTag ? fields.withTag : fields.withoutTag
    }
}

extension HTTPField.Name {
    fileprivate static let crossOriginOpenerPolicy = known("Cross-Origin-Opener-Policy")
    fileprivate static let referrerPolicy = known("Referrer-Policy")
    fileprivate static let xFrameOptions = known("X-Frame-Options")
}

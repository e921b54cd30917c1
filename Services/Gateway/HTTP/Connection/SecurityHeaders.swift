import HTTPTypes

/// The header fields that tell browsers what they must not do with an answer.
struct SecurityHeaders: Sendable {
    /// Those of a page, of any other document, and of the answer that a document has not changed.
    private let page: Fields
    private let document: Fields
    private let unchanged: Fields

    /// The fields of an answer by what it says about caches. They are made once, since every answer gets them.
    private struct Fields {
        /// If the answer says how it may be kept.
        let common: [HTTPField]
        let withTag: [HTTPField]
        let withoutTag: [HTTPField]

        init(_ common: [HTTPField]) {
            self.common = common
            withTag = common + [HTTPField(name: .cacheControl, value: "private, no-cache")]
            withoutTag = common + [HTTPField(name: .cacheControl, value: "no-store")]
        }
    }

    /// What an HTML page may load: files of the gateway itself, and pictures, such as that of a message, from any `https` server.
    /// It may have no script and no style in the page itself, and no script may be made from text.
    private static let pagePolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; font-src 'self'; \
        connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; require-trusted-types-for 'script'; \
        frame-ancestors 'none'
        """
    /// Anything else is no page: if a browser shows it, it can do nothing.
    private static let documentPolicy = "default-src 'none'; frame-ancestors 'none'"

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
        // A cache replaces the fields of the document that it keeps by those of a 304 (RFC 9111, section 3.2). So a 304 has no policy, and
        // the document keeps its own.
        unchanged = Fields(common)
    }

    /// Adds the fields to those of an answer.
    ///
    /// Unless the answer says how it may be kept, no cache keeps it. An answer with an `ETag` is kept by its reader alone, and
    /// used again only if the gateway says so.
    func add(to fields: inout HTTPFields, status: HTTPResponse.Status) {
        let added =
            status == .notModified ? unchanged : fields[.contentType]?.hasPrefix("text/html") ?? false ? page : document
        let some =
            fields[.cacheControl] != nil ? added.common : fields[.eTag] == nil ? added.withoutTag : added.withTag
        // One insertion costs much less than one for each field.
        fields.insert(contentsOf: some, at: fields.endIndex)
    }
}

extension HTTPField.Name {
    fileprivate static let crossOriginOpenerPolicy = known("Cross-Origin-Opener-Policy")
    fileprivate static let referrerPolicy = known("Referrer-Policy")
    fileprivate static let xFrameOptions = known("X-Frame-Options")
}

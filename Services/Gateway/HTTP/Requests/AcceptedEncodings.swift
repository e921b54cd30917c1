/// The content codings that a client accepts: its `Accept-Encoding` (RFC 9110, section 12.5.3).
struct AcceptedEncodings: Sendable {
    private let qualities: [String: Double]

    /// - Parameter header: An empty one accepts no coding.
    init(_ header: String) {
        qualities = Qualities(header).values
    }

    /// Whether the client accepts a coding.
    func accepts(_ coding: String) -> Bool {
        (qualities[coding] ?? qualities["*"] ?? 0) > 0
    }
}

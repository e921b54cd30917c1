import FoundationEssentials
import JSON

/// The body of a route that reads plain text instead of JSON.
struct TextBody: Codable, Sendable {
    static let mediaType = "text/plain"

    let text: String
}

extension Call where Body == TextBody {
    /// Reads the text in the body, regardless of its content type. Call it once, after the checks that need no body.
    ///
    /// - Parameter field: The name of the text for errors.
    /// - Throws: ``SchemaViolation``, or `NIOTooManyBytesError`.
    func text(as field: String) async throws -> String {
        let bytes = try await RequestBody.bytes(of: request)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SchemaViolation(field: field, problem: "expected text in UTF-8")
        }
        return text
    }
}

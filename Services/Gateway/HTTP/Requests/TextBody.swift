import FoundationEssentials
import HTTPTypes
import Hummingbird
import Base

/// The body of a route that reads plain text instead of JSON.
struct TextBody: Codable, Sendable {
    static let mediaType = "text/plain"

    let text: String
}

extension RouteCall where Body == TextBody {
    /// Reads the text in the body, without a byte order mark at its start. Call it once, after the checks that need no body.
    ///
    /// - Parameter field: The name of the text for errors.
    /// - Throws: ``Problem`` (415) for JSON, a form or any other type than text; ``SchemaViolation``, or `NIOTooManyBytesError`.
    func text(as field: String) async throws -> String {
        let claim = try TextClaim(request.headers[.contentType])
        let bytes = try await RequestBody.bytes(of: request)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SchemaViolation(field: field, problem: "expected text in UTF-8")
        }
        let content = String(text.trimmingPrefix("\u{FEFF}"))
        try claim.check(content)
        return content
    }
}

/// What the `Content-Type` of a text body claims. The content is checked if the claim is weak.
private enum TextClaim {
    /// The body is text.
    case text
    /// There is no content type.
    case none
    /// The body is a form: curl's default for everything sent with `-d`.
    case form

    private static let textTypes = [TextBody.mediaType, "text/markdown"]
    private static let charsets = ["utf-8", "us-ascii"]

    /// - Parameter contentType: The header field; `nil` without it.
    /// - Throws: ``Problem`` for another type, or another encoding than UTF-8.
    init(_ contentType: String?) throws(Problem) {
        let parts = (contentType ?? "").lowercased().split(separator: ";").map {
            $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        }
        guard let type = parts.first, !type.isEmpty else {
            self = .none
            return
        }
        let charset = parts.first { $0.hasPrefix("charset=") }?.dropFirst("charset=".count)
        switch type {
        case "application/x-www-form-urlencoded": self = .form
        case _ where Self.textTypes.contains(type) && Self.charsets.contains(String(charset ?? "utf-8")): self = .text
        default: throw Self.refusal("not \(contentType.map { "\($0.prefix(100))" } ?? "")")
        }
    }

    /// Refuses the JSON and the forms of clients that do not know this route, which phones would show as they are.
    ///
    /// - Throws: ``Problem``.
    func check(_ text: String) throws(Problem) {
        switch self {
        case .text: return
        case .form where text.hasFormField: throw Self.refusal("not a form, whose fields would be shown as they are")
        case .form, .none:
            guard text.isJSONDocument else { return }
            throw Self.refusal("not JSON, which would be shown as it is")
        }
    }

    private static func refusal(_ found: String) -> Problem {
        Problem(
            .unsupportedMediaType,
            "Content-Type: expected the text itself as \(TextBody.mediaType) in UTF-8, \(found). With curl: -H 'Content-Type: text/plain' "
                + "--data-binary TEXT. Title and description are parameters of the query; POST /message takes JSON.",
            field: "Content-Type", headers: [.accept: textTypes.joined(separator: ", ")])
    }
}

extension String {
    /// Whether it begins like a form: a name and `=`, without a space in between.
    fileprivate var hasFormField: Bool {
        guard let end = firstIndex(of: "="), end > startIndex else { return false }
        return self[..<end].utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !":/?".utf8.contains($0) }
    }

    /// Whether it is a JSON object or array.
    fileprivate var isJSONDocument: Bool {
        guard let first = first(where: { !$0.isWhitespace }), first == "{" || first == "[" else { return false }
        return (try? JSONValue(parsing: Data(utf8))) != nil
    }
}

import HTTPTypes
import Hummingbird

/// Refuses a request without a valid `:authority` (`Host` in HTTP/1.1), as Google's front end does. Any host name is accepted,
/// since the emulator is reached under several.
struct AuthorityCheck: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        guard let authority = request.head.authority, Self.isAuthority(authority), Self.agrees(request, authority) else {
            return FrontEndPage(.badRequest, "Your client has issued a malformed or illegal request.").response()
        }
        return try await next(request, context)
    }

    /// A host, in brackets if it is an IPv6 address, and an optional port (RFC 3986, without the deprecated user name).
    private static func isAuthority(_ text: String) -> Bool {
        var host = text[...]
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            guard UInt16(text[colon...].dropFirst()) != nil, text[text.index(after: colon)] != "+" else { return false }
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.count > 2 && host.dropFirst().dropLast().utf8.allSatisfy { isHexDigit($0) || ":.".utf8.contains($0) }
        }
        return !host.isEmpty && host.utf8.allSatisfy { isLetterOrDigit($0) || "-._".utf8.contains($0) }
    }

    /// Several `Host` fields, or one that differs from `:authority`, are ambiguous.
    private static func agrees(_ request: Request, _ authority: String) -> Bool {
        request.headers.allSatisfy { $0.name.canonicalName != "host" || $0.value == authority }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        Character(UnicodeScalar(byte)).isHexDigit
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

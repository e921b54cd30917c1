/// The host and the port of a URL or of a `Host` header (RFC 9110, 4.2), and nothing else.
package struct HTTPAuthority: Hashable, Sendable {
    /// The host in lower case. An IPv6 address keeps its brackets.
    package let host: String
    /// `nil` if the text has none.
    package let port: UInt16?

    /// - Returns: `nil` for everything but a host or `host:port`, for example for `user@host`, `[::1]evil.example` and
    ///   `127.0.0.1:evil.example`.
    package init?(_ text: some StringProtocol) {
        let end =
            text.hasPrefix("[") ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":") ?? text.endIndex
        guard let end, Self.isHost(text[..<end]) else { return nil }
        let rest = text[end...]
        if rest.isEmpty {
            port = nil
        } else {
            let digits = rest.dropFirst()
            guard rest.first == ":", digits.utf8.allSatisfy(Self.isDigit), let number = UInt16(digits) else { return nil }
            port = number
        }
        host = text[..<end].lowercased()
    }

    private static func isHost(_ text: some StringProtocol) -> Bool {
        guard text.hasPrefix("[") else {
            return !text.isEmpty && text.utf8.allSatisfy { isDigit($0) || isLetter($0) || "-._".utf8.contains($0) }
        }
        let address = text.dropFirst().dropLast()
        return address.contains(":") && address.utf8.allSatisfy { isHexDigit($0) || ":.".utf8.contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}

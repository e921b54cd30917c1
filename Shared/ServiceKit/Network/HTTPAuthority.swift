/// The host and the port of a URL or of a `Host` header (RFC 9110, 4.2), and nothing else.
package struct HTTPAuthority: Hashable, Sendable {
    /// The host in lower case. An IPv6 address keeps its brackets.
    package let host: String
    /// `nil` if the text has none.
    package let port: UInt16?

    /// - Returns: `nil` unless the text is a host or `host:port`, for example for `user@host`, `[::1]evil.example` and
    ///   `127.0.0.1:evil.example`.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let isAddress = bytes.first == UInt8(ascii: "[")
        let end =
            isAddress
            ? bytes.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        guard let end, isAddress ? Self.isAddress(bytes[1..<end - 1]) : Self.isName(bytes[..<end]) else { return nil }
        let rest = bytes[end...]
        if rest.isEmpty {
            port = nil
        } else {
            let digits = rest.dropFirst()
            guard rest.first == UInt8(ascii: ":"), digits.allSatisfy(Self.isDigit),
                let number = UInt16(String(decoding: digits, as: UTF8.self))
            else { return nil }
            port = number
        }
        host = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
    }

    private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { isDigit($0) || isLetter($0) || "-._".utf8.contains($0) }
    }

    /// - Parameter bytes: An IPv6 address without its brackets.
    private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains(UInt8(ascii: ":")) && bytes.allSatisfy { isHexDigit($0) || ":.".utf8.contains($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}

/// Whether a text is `https://`, a host and an optional port, and nothing else.
package func isHTTPSOrigin(_ text: String) -> Bool {
    text.hasPrefix("https://") && HTTPAuthority(text.dropFirst(8)) != nil
}

/// Whether a text is `http://` or `https://`, a name or address of this machine and an optional port, and nothing else.
package func isLoopbackURL(_ text: String) -> Bool {
    guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }),
        let host = HTTPAuthority(text.dropFirst(scheme.count))?.host
    else { return false }
    return host == "localhost" || IPAddress(host.filter { $0 != "[" && $0 != "]" })?.isLoopback ?? false
}

/// Whether a text is an origin in browsers' form: `http://` or `https://`, a host and an optional port, all in lower case.
package func isBrowserOrigin(_ text: String) -> Bool {
    text == text.lowercased() && (text.hasPrefix("http://") && HTTPAuthority(text.dropFirst(7)) != nil || isHTTPSOrigin(text))
}

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

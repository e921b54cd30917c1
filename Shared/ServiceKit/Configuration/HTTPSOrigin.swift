/// Whether a text is `https://`, a host and an optional port, and nothing else.
package func isHTTPSOrigin(_ text: String) -> Bool {
    text.hasPrefix("https://") && HTTPAuthority(text.dropFirst(8)) != nil
}

/// Whether a text is an origin in browsers' form: `http://` or `https://`, a host and an optional port, all in lower case.
package func isBrowserOrigin(_ text: String) -> Bool {
    text == text.lowercased() && (text.hasPrefix("http://") && HTTPAuthority(text.dropFirst(7)) != nil || isHTTPSOrigin(text))
}

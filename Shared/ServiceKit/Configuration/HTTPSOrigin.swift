/// Whether a text is `https://`, a host and perhaps a port, and nothing more.
package func isHTTPSOrigin(_ text: String) -> Bool {
    text.hasPrefix("https://") && text.count > 8 && text.dropFirst(8).allSatisfy { $0 != "/" && !$0.isWhitespace }
}

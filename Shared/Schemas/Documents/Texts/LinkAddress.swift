#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
import FoundationEssentials
import Base

/// The address of a message's main link, which phones open: a page (`https:`), a telephone (`tel:`) or a mailbox (`mailto:`).
package enum LinkAddress {
    /// All addresses that match the pattern are valid, except hosts of pages that end with `.lan`.
    static let limit = FieldLimit.pattern(
        #"^(https://([A-Za-z0-9-]+\.)+[A-Za-z]{2,4}(/[A-Za-z0-9._~/-]*)?|tel:\+?[0-9][0-9().-]*"#
            + #"|mailto:[A-Za-z0-9._+-]+@([A-Za-z0-9-]+\.)+[A-Za-z]{2,4})$"#,
        example: "https://www.example.edu/storm")

    /// Whether it has the form of such an address.
    static func isWellFormed(_ text: String) -> Bool {
        if text.hasPrefix("https:") { return PictureAddress.isWellFormed(text) }
        return (text.hasPrefix("tel:") || text.hasPrefix("mailto:")) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The problem of a new address, or `nil`. A number must be one to call: codes with `*` and `#` change the telephone's settings. A mail
    /// may have a subject and a text, but no further recipients and no files.
    package static func problem(with text: String) -> String? {
        if text.hasPrefix("https:") { return PictureAddress.problem(with: text) }
        if text.hasPrefix("tel:") {
            guard text.wholeMatch(of: /tel:\+?[().\-]*[0-9][0-9().\-]*(;ext=[0-9]{1,15})?/) != nil else {
                return "expected a number of digits after tel:, such as tel:+49-30-1234"
            }
            return nil
        }
        guard text.hasPrefix("mailto:") else { return "expected an address that begins with https://, tel: or mailto:" }
        let form = /mailto:[A-Za-z0-9.!$'*+\-_~]+@[A-Za-z0-9.\-]+(\?(subject|body)=[^&#"<>]*(&(subject|body)=[^&#"<>]*)?)?/
        guard isWellFormed(text), text.wholeMatch(of: form) != nil else {
            return "expected one mail address after mailto:, with no other fields than subject and body"
        }
        return nil
    }
}

/// The address of a picture that phones fetch: `https://`, ASCII, and a host.
enum PictureAddress {
    /// All addresses that match the pattern are valid, except hosts that end with `.lan`.
    static let limit = FieldLimit.pattern(
        #"^https://([A-Za-z0-9-]+\.)+[A-Za-z]{2,4}(/[A-Za-z0-9._~/-]*)?$"#, example: "https://www.example.edu/storm.png")

    /// Whether it has the form of such an address.
    static func isWellFormed(_ text: String) -> Bool {
        text.hasPrefix("https://") && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && URL(string: text)?.host()?.isEmpty == false
    }

    /// What is wrong with a new address; `nil` if it is valid. It must not lead phones to themselves, to their local network, or into
    /// somebody's account.
    static func problem(with text: String) -> String? {
        guard isWellFormed(text), !text.utf8.contains(UInt8(ascii: "\"")) else {
            return "expected an https:// URL with a host, of ASCII characters without a space"
        }
        // A backslash is a slash for browsers.
        let authority = text.dropFirst("https://".count).prefix { !"/?#\\".contains($0) }.lowercased()
        guard !authority.contains("@") else { return "expected a URL without a user" }
        guard !authority.contains("%") else { return "expected a host without escapes" }
        return isPublic(host: host(of: authority)) ? nil : "expected a host that phones reach from everywhere"
    }

    /// The host without a port, brackets and the dot at the end of a full name.
    private static func host(of authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        let host = authority.prefix { $0 != ":" }
        return String(host.hasSuffix(".") ? host.dropLast() : host)
    }

    private static func isPublic(host: String) -> Bool {
        var (v4, v6) = (in_addr(), in6_addr())
        // As browsers do, also 127.1, 0x7f.1 and 2130706433.
        if inet_aton(host, &v4) != 0 { return PublicAddresses.contain(v4: withUnsafeBytes(of: &v4) { Array($0) }) }
        if inet_pton(AF_INET6, host, &v6) == 1 { return PublicAddresses.contain(v6: withUnsafeBytes(of: &v6) { Array($0) }) }
        let last = host.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        return !host.isEmpty && !["localhost", "local", "internal", "lan", ""].contains(last)
    }
}

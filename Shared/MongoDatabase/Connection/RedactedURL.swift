/// An invalid connection string, parsed just enough to hide its secrets.
struct RedactedURL {
    private let scheme: Substring
    private let user: Substring?
    private let hosts: Substring
    private let path: Substring
    private let options: [Substring]

    /// - Returns: `nil` if it is not certain what is secret: an `@` after the servers may belong to an option, or to a password
    ///   with an unencoded `/`, `?` or `#`.
    init?(_ text: String) {
        guard let start = text.firstRange(of: "://")?.upperBound else { return nil }
        scheme = text[..<start]
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let rest = text[authority.endIndex...]
        guard !rest.contains("@") else { return nil }
        // The password ends at the last `@`, because it may contain an unencoded `@` itself.
        let at = authority.lastIndex(of: "@")
        user = at.map { authority[..<$0] }
        hosts = at.map { authority[authority.index(after: $0)...] } ?? authority
        path = rest.prefix { $0 != "?" }
        options = rest[path.endIndex...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
    }

    /// The connection string with placeholders for the user and the password, and without secret options.
    var withPlaceholders: String {
        let placeholder = user.map { $0.contains(":") ? "user:password@" : "user@" } ?? ""
        let harmless = options.map { option in
            let name = option.prefix { $0 != "=" }
            return Self.secretOptions.contains(name.lowercased()) ? "\(name)=hidden" : String(option)
        }
        let query = harmless.isEmpty ? "" : "?" + harmless.joined(separator: "&")
        return "\(scheme)\(placeholder)\(hosts)\(path)\(query)"
    }

    private static let secretOptions: Set = [
        "tlscertificatekeyfilepassword", "sslclientcertificatekeypassword", "authmechanismproperties",
    ]
}

/// A connection string that is wrong somewhere, taken apart as far as it takes to hide its secrets.
struct SecretURL {
    private let scheme: Substring
    private let user: Substring?
    private let hosts: Substring
    private let path: Substring
    private let options: [Substring]

    /// - Returns: `nil` where it is not sure what in it is secret: an `@` after the servers belongs to an option, or to a
    ///   password with a `/`, `?` or `#` in it that is not encoded.
    init?(_ text: String) {
        guard let start = text.firstRange(of: "://")?.upperBound else { return nil }
        scheme = text[..<start]
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let rest = text[authority.endIndex...]
        guard !rest.contains("@") else { return nil }
        // Before the last one: whoever forgot to encode one in a password has not left it outside.
        let at = authority.lastIndex(of: "@")
        user = at.map { authority[..<$0] }
        hosts = at.map { authority[authority.index(after: $0)...] } ?? authority
        path = rest.prefix { $0 != "?" }
        options = rest[path.endIndex...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
    }

    /// As it was, with other words for the user, the password and those of its options that are secret.
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

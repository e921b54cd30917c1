/// A connection string taken apart as far as it takes to hide its secrets, whatever is wrong with it.
struct SecretURL {
    private let scheme: Substring
    /// Before the last `@`: whoever forgot to encode one in a password has not left it outside.
    private let user: Substring?
    private let hostsAndDatabase: Substring
    private let options: [Substring]

    init(_ text: String) {
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        scheme = text[..<start]
        var rest = text[start...]
        if let at = rest.lastIndex(of: "@") {
            user = rest[..<at]
            rest = rest[rest.index(after: at)...]
        } else {
            user = nil
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        hostsAndDatabase = parts[0]
        options = parts.count > 1 ? parts[1].split(separator: "&", omittingEmptySubsequences: false) : []
    }

    /// `mongodb://host:27017/msi`
    var withoutSecrets: String { "\(scheme)\(hostsAndDatabase)" }

    /// As it was, with other words for the user, the password and those of its options that are secret.
    var withPlaceholders: String {
        let placeholder = user.map { $0.contains(":") ? "user:password@" : "user@" } ?? ""
        let harmless = options.map { option in
            let name = option.prefix { $0 != "=" }
            return Self.secretOptions.contains(name.lowercased()) ? "\(name)=hidden" : String(option)
        }
        let query = harmless.isEmpty ? "" : "?" + harmless.joined(separator: "&")
        return "\(scheme)\(placeholder)\(hostsAndDatabase)\(query)"
    }

    private static let secretOptions: Set = [
        "tlscertificatekeyfilepassword", "sslclientcertificatekeypassword", "authmechanismproperties",
    ]
}

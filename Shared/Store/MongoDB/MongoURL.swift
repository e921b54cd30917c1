import CMongoC

/// A checked MongoDB connection string.
///
/// It may contain a password, which its descriptions do not show.
package struct MongoURL: Sendable {
    private let text: String
    /// Scheme, hosts and database.
    package let description: String
    /// The database in the path; `msi` if the path has none.
    package let database: String
    /// The maximum number of concurrent operations: `maxPoolSize`.
    let maxConnections: Int
    /// The maximum time for an answer of the server: `socketTimeoutMS`.
    let socketTimeout: Duration
    /// Whether the data may be used while a restore has not ended.
    private(set) var isOfRestore = false

    /// - Throws: ``MongoError`` with the code `badURL` and the problem, without any secret.
    package init(_ text: String) throws(MongoError) {
        guard text.hasPrefix("mongodb://") || text.hasPrefix("mongodb+srv://") else {
            throw MongoError(.badURL, "expected mongodb://HOST:PORT/DATABASE or mongodb+srv://HOST/DATABASE")
        }
        let (uri, complaint) = Self.parse(text)
        guard let uri else { throw Self.error(about: text) }
        defer { mongoc_uri_destroy(uri) }
        guard complaint == nil else { throw Self.error(about: text) }
        guard mongoc_write_concern_is_acknowledged(mongoc_uri_get_write_concern(uri)) else {
            throw MongoError(.badURL, "w must not be 0: the database must confirm each write; omit w for majority")
        }
        self.text = text
        database = mongoc_uri_get_database(uri).map { String(cString: $0) } ?? "msi"
        description = "\(text.prefix { $0 != ":" })://\(Self.servers(of: uri))/\(database)"
        maxConnections = max(
            1, min(Int(mongoc_uri_get_option_as_int32(uri, MONGOC_URI_MAXPOOLSIZE, Defaults.maxConnections)), 256))
        socketTimeout = .milliseconds(
            mongoc_uri_get_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, Defaults.socketMilliseconds))
    }

    /// The same database, for `msi restore`: it is used although the restore has not ended.
    package var duringRestore: MongoURL {
        var url = self
        url.isOfRestore = true
        return url
    }

    /// Makes libmongoc's form of it, with our defaults. The caller destroys it.
    func makeURI(application: String, socketTimeout: Duration) -> OpaquePointer {
        guard let uri = Self.parse(text).uri else { preconditionFailure("it was read before") }
        func setDefault(_ option: String, _ value: Int32) {
            if !mongoc_uri_has_option(uri, option) { mongoc_uri_set_option_as_int32(uri, option, value) }
        }
        setDefault(MONGOC_URI_SERVERSELECTIONTIMEOUTMS, Defaults.connectMilliseconds)
        setDefault(MONGOC_URI_CONNECTTIMEOUTMS, Defaults.connectMilliseconds)
        mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, Int32(socketTimeout / .milliseconds(1)))
        // The services read their own recent writes, and those of other instances.
        let primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY)
        defer { mongoc_read_prefs_destroy(primary) }
        mongoc_uri_set_read_prefs_t(uri, primary)
        if mongoc_uri_get_appname(uri) == nil { mongoc_uri_set_appname(uri, application) }
        let concern = mongoc_write_concern_copy(mongoc_uri_get_write_concern(uri))
        defer { mongoc_write_concern_destroy(concern) }
        if !mongoc_uri_has_option(uri, MONGOC_URI_W) { mongoc_write_concern_set_w(concern, MONGOC_WRITE_CONCERN_W_MAJORITY) }
        if !mongoc_uri_has_option(uri, MONGOC_URI_JOURNAL) { mongoc_write_concern_set_journal(concern, true) }
        mongoc_uri_set_write_concern(uri, concern)
        return uri
    }

    /// The defaults for options that the connection string does not set.
    private enum Defaults {
        static let connectMilliseconds: Int32 = 2_000
        static let socketMilliseconds: Int32 = 10_000
        static let maxConnections: Int32 = 32
    }

    /// - Returns: libmongoc's form, if it can parse the text, and its first warning.
    private static func parse(_ text: String) -> (uri: OpaquePointer?, complaint: String?) {
        var error = bson_error_t()
        let (uri, warnings) = MongoLibrary.collectingWarnings { mongoc_uri_new_with_error(text, &error) }
        guard uri != nil else { return (nil, String(cString: cmongoc_error_message(&error))) }
        return (uri, warnings.first)
    }

    /// libmongoc's errors may quote any part of the text. So it parses the same text without the secrets.
    private static func error(about text: String) -> MongoError {
        let (uri, complaint) = RedactedURL(text).map { parse($0.withPlaceholders) } ?? (nil, nil)
        mongoc_uri_destroy(uri)
        return MongoError(
            .badURL,
            complaint ?? "a user name, password or option with any of : / ? # [ ] @ % needs them percent-encoded")
    }

    /// The servers as libmongoc has parsed them, without any other part of the text.
    private static func servers(of uri: OpaquePointer) -> String {
        if let name = mongoc_uri_get_srv_hostname(uri) { return String(cString: name) }
        var servers: [String] = []
        var next = mongoc_uri_get_hosts(uri)
        while let host = next {
            servers.append(String(cString: cmongoc_host_and_port(host)))
            next = UnsafePointer(host.pointee.next)
        }
        return servers.joined(separator: ",")
    }
}

extension MongoURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

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

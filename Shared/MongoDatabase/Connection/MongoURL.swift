import CMongoC

/// Where the database is, and how to reach it: a MongoDB connection string, which has been found to be one.
///
/// It may hold a password, which no description of it shows.
package struct MongoURL: Sendable {
    private let text: String
    /// Scheme, hosts and database.
    package let description: String
    /// The database that the path names; `msi` where it names none.
    package let database: String
    /// How many operations may be under way at once: `maxPoolSize`.
    let maxConnections: Int
    /// How long a server may take for an answer: `socketTimeoutMS`.
    let socketTimeout: Duration

    /// - Throws: ``MongoError`` with code `badURL`, and what is wrong with it, without any secret.
    package init(_ text: String) throws(MongoError) {
        guard text.hasPrefix("mongodb://") || text.hasPrefix("mongodb+srv://") else {
            throw MongoError(.badURL, "expected mongodb://HOST:PORT/DATABASE or mongodb+srv://HOST/DATABASE")
        }
        let (uri, complaint) = Self.parse(text)
        guard let uri else { throw Self.error(about: text) }
        defer { mongoc_uri_destroy(uri) }
        guard complaint == nil else { throw Self.error(about: text) }
        guard mongoc_write_concern_is_acknowledged(mongoc_uri_get_write_concern(uri)) else {
            throw MongoError(.badURL, "w must not be 0: the database has to say what it has stored; leave w out for majority")
        }
        self.text = text
        database = mongoc_uri_get_database(uri).map { String(cString: $0) } ?? "msi"
        description = "\(text.prefix { $0 != ":" })://\(Self.servers(of: uri))/\(database)"
        maxConnections = max(
            1, min(Int(mongoc_uri_get_option_as_int32(uri, MONGOC_URI_MAXPOOLSIZE, Defaults.maxConnections)), 256))
        socketTimeout = .milliseconds(
            mongoc_uri_get_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, Defaults.socketMilliseconds))
    }

    /// libmongoc's own form of it, with what the connection string leaves open; destroy it after use.
    func makeURI(application: String, socketTimeout: Duration) -> OpaquePointer {
        guard let uri = Self.parse(text).uri else { preconditionFailure("it was read before") }
        func setDefault(_ option: String, _ value: Int32) {
            if !mongoc_uri_has_option(uri, option) { mongoc_uri_set_option_as_int32(uri, option, value) }
        }
        setDefault(MONGOC_URI_SERVERSELECTIONTIMEOUTMS, Defaults.connectMilliseconds)
        setDefault(MONGOC_URI_CONNECTTIMEOUTMS, Defaults.connectMilliseconds)
        mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, Int32(socketTimeout / .milliseconds(1)))
        // The services read what they, or others like them, have just written.
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

    /// What holds where the connection string says nothing else.
    private enum Defaults {
        static let connectMilliseconds: Int32 = 2_000
        static let socketMilliseconds: Int32 = 10_000
        static let maxConnections: Int32 = 32
    }

    /// - Returns: libmongoc's form, if it can read the text at all, and the first thing that it finds wrong.
    private static func parse(_ text: String) -> (uri: OpaquePointer?, complaint: String?) {
        var error = bson_error_t()
        let (uri, warnings) = MongoLibrary.collectingWarnings { mongoc_uri_new_with_error(text, &error) }
        guard uri != nil else { return (nil, String(cString: cmongoc_error_message(&error))) }
        return (uri, warnings.first)
    }

    /// libmongoc may quote any part of what it cannot read. It is asked about the same text without the secrets.
    private static func error(about text: String) -> MongoError {
        let (uri, complaint) = SecretURL(text).map { parse($0.withPlaceholders) } ?? (nil, nil)
        mongoc_uri_destroy(uri)
        return MongoError(
            .badURL,
            complaint ?? "a user name, password or option with any of : / ? # [ ] @ % needs them percent-encoded")
    }

    /// As libmongoc has understood them: whatever else is in the text is no part of it.
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

#if canImport(Glibc)
    import Glibc
#endif

/// An `ipc://` endpoint with a `*` in its file name, such as `ipc:///run/msi/fcm-relay@*.sock`. It stands for the sockets of all
/// instances of a service, which come and go.
struct EndpointPattern: Hashable, Sendable {
    /// The path of the folder, with a slash at its end.
    private let folder: String
    /// The parts of the file name before and after the `*`.
    private let (prefix, suffix): (String, String)

    /// The maximum number of instances. Each takes about four descriptors of a client.
    static let maxInstances = 32

    /// The folder cannot be read.
    struct ScanFailure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameter path: A path with a `*`.
    /// - Throws: ``BusError`` if the `*` is in the wrong place, or no name of an instance would fit into the path of a socket.
    init(path: String, of text: String) throws(BusError) {
        guard let slash = path.lastIndex(of: "/") else {
            throw Self.refusal(text, "expected the path of a folder before the file name with the *")
        }
        let name = path[path.index(after: slash)...]
        let parts = name.split(separator: "*", omittingEmptySubsequences: false)
        guard parts.count == 2, !path[...slash].contains("*") else {
            throw Self.refusal(text, "a pattern has one *, which is in the file name")
        }
        guard path.utf8.count <= Endpoint.maxPathBytes else {
            throw Self.refusal(
                text, "the path has \(path.utf8.count) bytes, the system allows a socket at most \(Endpoint.maxPathBytes)")
        }
        folder = String(path[...slash])
        (prefix, suffix) = (String(parts[0]), String(parts[1]))
    }

    var text: String { "ipc://\(folder)\(prefix)*\(suffix)" }

    /// Whether a file name matches. As in a shell, a `*` at the beginning does not match a dot.
    func matches(_ name: String) -> Bool {
        name.utf8.count >= prefix.utf8.count + suffix.utf8.count && name.hasPrefix(prefix) && name.hasSuffix(suffix)
            && (!prefix.isEmpty || !name.hasPrefix("."))
    }

    /// Whether a socket at an endpoint would be one of its instances.
    func stands(for endpoint: String) -> Bool {
        let start = "ipc://" + folder
        guard endpoint.hasPrefix(start) else { return false }
        let name = String(endpoint.dropFirst(start.count))
        return !name.contains("/") && !name.contains("*") && matches(name)
    }

    /// The endpoints of the sockets that match now, in the order of their names. A folder that does not exist has none.
    ///
    /// A symbolic link does not count, since it would count its instance twice. Nor does a socket whose path is too long, since no
    /// client can connect to it.
    func scan() throws(ScanFailure) -> [String] {
        guard let listing = opendir(folder) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw ScanFailure(description: "\(folder) cannot be read: \(ZeroMQFault(number: errno))")
        }
        defer { closedir(listing) }
        var paths: [String] = []
        while let entry = readdir(listing) {
            guard let name = Self.name(of: entry), matches(name) else { continue }
            let path = folder + name
            if path.utf8.count <= Endpoint.maxPathBytes, Self.isSocket(path) { paths.append(path) }
        }
        return paths.sorted().map { "ipc://\($0)" }
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            bytes.firstIndex(of: 0).flatMap { String(validating: bytes[..<$0], as: UTF8.self) }
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func refusal(_ text: String, _ reason: String) -> BusError {
        BusError(.invalidEndpoint, "\"\(text.prefix(200))\": \(reason)")
    }
}

/// The endpoints of a client's settings: fixed ones, and patterns for the instances of a service on this machine.
package struct ClientEndpoints: Sendable {
    /// The endpoints as in the settings.
    let texts: [String]
    package let fixed: [String]
    let patterns: [EndpointPattern]

    /// - Parameter texts: `ipc://<path>`, where the file name may have a `*`, or `tcp://<host>:<port>`.
    /// - Throws: ``BusError`` if one of them is no endpoint, or there is none.
    package init(_ texts: [String]) throws(BusError) {
        guard !texts.isEmpty else { throw BusError(.invalidEndpoint, "a client needs at least one endpoint") }
        var (fixed, patterns): ([String], [EndpointPattern]) = ([], [])
        for text in texts {
            if let path = Endpoint.pattern(in: text) {
                patterns.append(try EndpointPattern(path: path, of: text))
            } else {
                _ = try Endpoint(text)
                fixed.append(text)
            }
        }
        (self.texts, self.fixed, self.patterns) = (texts, fixed, patterns)
    }

    /// The fixed endpoints, and those of the instances that run now. A pattern without an instance stands for itself.
    package var current: [String] {
        fixed
            + patterns.flatMap { pattern in
                let found = instances { $0 == pattern ? (try? pattern.scan()) ?? [] : [] }
                return found.isEmpty ? [pattern.text] : found
            }
    }

    /// Whether a service that listens at an endpoint is found here: the endpoint is one of the fixed ones, or a pattern stands for it.
    package func include(_ endpoint: String) -> Bool {
        fixed.contains(endpoint) || patterns.contains { $0.stands(for: endpoint) }
    }

    /// The endpoints of the instances, without the fixed ones, each once.
    ///
    /// - Parameter found: Those that a pattern has found.
    func instances(_ found: (EndpointPattern) -> [String]) -> [String] {
        var known = Set(fixed)
        return patterns.flatMap(found).filter { known.insert($0).inserted }
    }
}

#if canImport(Glibc)
    import Glibc
#endif

/// Where a service listens.
package enum Endpoint: Hashable, Sendable {
    /// A Unix socket of this path.
    case ipc(path: String)
    /// A TCP port; port 0 lets the system choose. ``BusSecurity`` says which hosts are allowed.
    case tcp(host: Host, port: UInt16)

    package enum Host: Hashable, Sendable {
        /// An IPv4 address, or an IPv6 address in brackets. A service that listens at `0.0.0.0` or `[::]` uses every interface.
        case address(String)
        /// A host name that has to be resolved.
        case name(String)
    }

    /// The longest path of a Unix socket, in bytes: `sun_path` without its final zero.
    static let maxPathBytes = 107

    /// - Throws: ``BusError`` if the text is not a valid endpoint.
    package init(_ text: String) throws(BusError) {
        if let path = text.suffix(after: "ipc://") {
            try Self.check(path: path, of: text)
            self = .ipc(path: path)
        } else if let (host, port) = text.suffix(after: "tcp://").flatMap(Self.hostAndPort) {
            self = .tcp(host: try Self.host(host, of: text), port: port)
        } else {
            throw BusError(.invalidEndpoint, "\"\(text.prefix(200))\": expected ipc://<path> or tcp://<host>:<port>")
        }
    }

    /// The path of a text that is a pattern: an `ipc://` endpoint with a `*`. Only clients have such ones.
    static func pattern(in text: String) -> String? {
        text.suffix(after: "ipc://").flatMap { $0.contains("*") && !$0.hasPrefix("@") ? $0 : nil }
    }

    /// Looks up the endpoint's host name, and says why a client without keys refuses it: it has an address of another machine.
    ///
    /// - Parameter timeout: How long to wait for the system's resolver.
    /// - Returns: The refusal, or that the lookup took too long; `nil` for an address, and for a name without an address now.
    package func refusalWithoutKeys(within timeout: Duration) async -> String? {
        guard case .tcp(.name(let name), _) = self else { return nil }
        return await NameLookup.refusalWithoutKeys(of: name, within: timeout).map { "\(text): \($0)" }
    }

    var text: String {
        switch self {
        case .ipc(let path): "ipc://\(path)"
        case .tcp(.address(let host), let port), .tcp(.name(let host), let port): "tcp://\(host):\(port)"
        }
    }

    /// Whether an IPv4 or IPv6 address without brackets is a loopback address; `nil` if the text is not an address.
    static func isLoopback(_ address: String) -> Bool? {
        var version4 = in_addr()
        if inet_pton(AF_INET, address, &version4) == 1 { return UInt32(bigEndian: version4.s_addr) >> 24 == 127 }
        var version6 = in6_addr()
        guard inet_pton(AF_INET6, address, &version6) == 1 else { return nil }
        return withUnsafeBytes(of: version6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }

    private static func host(_ host: String, of text: String) throws(BusError) -> Host {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let address = isBracketed ? String(host.dropFirst().dropLast()) : host
        if isLoopback(address) != nil, isBracketed == address.contains(":") { return .address(host) }
        guard host != "*" else {
            throw BusError(.invalidEndpoint, "\(text.prefix(200)): expected an address; 0.0.0.0 stands for all of the machine's")
        }
        guard host.utf8.count <= 253, host.utf8.allSatisfy(isNameCharacter) else {
            throw BusError(.invalidEndpoint, "\"\(text.prefix(200))\": \"\(host.prefix(100))\" is neither a name nor an address")
        }
        return .name(host)
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func check(path: String, of text: String) throws(BusError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw BusError(.invalidEndpoint, "\"\(text.prefix(200))\": expected a path after ipc://")
        }
        if path.contains("*") {
            throw BusError(
                .invalidEndpoint, "\"\(text.prefix(200))\": a * is for clients, and stands for the instances of a service")
        }
        if path.hasPrefix("@") {
            // An abstract socket has no permissions: every user of the machine could connect.
            throw BusError(.invalidEndpoint, "\"\(text.prefix(200))\": expected the path of a file after ipc://")
        }
        if path.utf8.count > maxPathBytes {
            throw BusError(
                .invalidEndpoint,
                "\(text.prefix(200)): the path has \(path.utf8.count) bytes, the system allows a socket at most \(maxPathBytes)")
        }
    }

    private static func hostAndPort(_ address: String) -> (String, UInt16)? {
        guard let colon = address.lastIndex(of: ":"), colon != address.startIndex else { return nil }
        let port = address[address.index(after: colon)...]
        return (port == "*" ? 0 : UInt16(port)).map { (String(address[..<colon]), $0) }
    }
}

extension String {
    fileprivate func suffix(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

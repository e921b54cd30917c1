/// Where a service listens.
enum Endpoint: Hashable {
    /// A Unix socket of this path.
    case ipc(path: String)
    /// `host:port`, as ZeroMQ reads it: an interface or `*` to bind, a name or an address to connect; port 0 or `*` to let
    /// the system choose.
    case tcp(address: String)

    /// The longest path of a Unix socket, in bytes: `sun_path` without its final zero.
    static let longestPath = 107

    init(_ text: String) throws(BusError) {
        if let path = text.suffix(after: "ipc://") {
            try Self.check(path: path, of: text)
            self = .ipc(path: path)
        } else if let address = text.suffix(after: "tcp://"), Self.hasHostAndPort(address) {
            self = .tcp(address: address)
        } else {
            throw BusError(.invalidEndpoint, "\"\(text.prefix(200))\": expected ipc://<path> or tcp://<host>:<port>")
        }
    }

    var text: String {
        switch self {
        case .ipc(let path): "ipc://\(path)"
        case .tcp(let address): "tcp://\(address)"
        }
    }

    private static func check(path: String, of text: String) throws(BusError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw BusError(.invalidEndpoint, "\"\(text.prefix(200))\": expected a path after ipc://")
        }
        if path.hasPrefix("@") || path.hasPrefix("*") {
            // An abstract socket has no permissions: everybody on the machine could use it.
            throw BusError(.invalidEndpoint, "\"\(text.prefix(200))\": expected the path of a file after ipc://")
        }
        if path.utf8.count > longestPath {
            throw BusError(
                .invalidEndpoint,
                "\(text.prefix(200)): the path has \(path.utf8.count) bytes, the system allows a socket at most \(longestPath)")
        }
    }

    private static func hasHostAndPort(_ address: String) -> Bool {
        guard let colon = address.lastIndex(of: ":"), colon != address.startIndex else { return false }
        let port = address[address.index(after: colon)...]
        return port == "*" || UInt16(port) != nil
    }
}

extension String {
    fileprivate func suffix(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

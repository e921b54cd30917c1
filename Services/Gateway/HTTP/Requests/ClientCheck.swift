import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit

/// Determines the client of a request, and refuses clients of other machines whose connection is not encrypted.
///
/// The client is the connection's peer, or the client that the peer names if it is a trusted proxy. Other proxies are refused: all
/// of their clients would count as one client, and as a local one if the proxy is on this machine.
struct ClientCheck: Sendable {
    let access: GatewayAccess

    /// Sets ``GatewayContext/client`` and ``GatewayContext/isSecure``.
    ///
    /// - Throws: ``Problem``.
    func check(_ request: Request, _ context: inout GatewayContext) throws {
        context.isSecure = request.head.scheme == "https"
        var isLocal = context.client?.isLoopback ?? false
        if let peer = context.client, let field = ForwardedClient.field(in: request.headers) {
            guard access.trusts(peer) else { throw Self.unknownProxy(peer, field) }
            let forwarded = try ForwardedClient(request.headers, trusts: access.trusts)
            context.client = forwarded.address ?? peer
            context.isSecure = forwarded.isSecure ?? context.isSecure
            isLocal = false
        }
        guard context.isSecure || isLocal || Self.isHealthCheck(request) else {
            throw Problem(
                .insecureConnection,
                access.publicURL.map { "Use \($0)." } ?? "The proxy must tell that its client uses https (X-Forwarded-Proto).")
        }
    }

    private static func unknownProxy(_ peer: IPAddress, _ field: HTTPField.Name) -> Problem {
        Problem(
            .invalidField,
            "\(field): \(peer) is no trusted proxy of the gateway. If it is a proxy before the gateway, name it in "
                + "MSI_GATEWAY_TRUSTED_PROXIES; otherwise leave the header out.",
            field: "\(field)")
    }

    /// A load balancer or a monitor may ask without TLS.
    private static func isHealthCheck(_ request: Request) -> Bool {
        request.uri.path == "/health" && (request.method == .get || request.method == .head)
    }
}

/// The client of a request according to trusted proxies.
struct ForwardedClient: Hashable, Sendable {
    /// The client's address: the last in the chain that is not a trusted proxy. `nil` if the proxies name none.
    var address: IPAddress?
    /// Whether the client's connection was encrypted; `nil` if the proxies do not say.
    var isSecure: Bool?

    /// The first header field by which a proxy says something about its client; `nil` if there is none.
    static func field(in fields: HTTPFields) -> HTTPField.Name? {
        fields.first { field in
            let name = field.name.canonicalName
            // Few names begin so, and comparing the beginning of a text is not cheap.
            return switch name.utf8.first {
            case UInt8(ascii: "f"): field.name == .forwarded
            case UInt8(ascii: "x"): name.hasPrefix("x-forwarded-")
            default: false
            }
        }?.name
    }

    /// Reads `X-Forwarded-For` and `X-Forwarded-Proto`, or `Forwarded` (RFC 7239).
    ///
    /// A client may send these fields itself. Each proxy adds the address of its peer at the end. So the addresses are read from
    /// the end, up to the first that is not a trusted proxy. A loopback address is that of the proxy's machine, never the client's.
    ///
    /// - Throws: ``Problem`` if both forms are given and contradict each other: a proxy writes one of them and passes on the other
    ///   as the client sent it.
    init(_ fields: HTTPFields, trusts: (IPAddress) -> Bool) throws {
        let forwarded = fields[values: .forwarded]
        let hops = fields[values: .xForwardedFor].flatMap { Self.items(of: $0, separator: ",") }.map {
            Hop(address: Self.address(in: $0), scheme: nil)
        }
        let plain = ForwardedClient(hops, trusts: trusts, scheme: fields[values: .xForwardedProto].last.flatMap(Self.lastItem))
        guard !forwarded.isEmpty else {
            self = plain
            return
        }
        let standard = ForwardedClient(
            forwarded.flatMap { Self.items(of: $0, separator: ",") }.map(Self.hop), trusts: trusts, scheme: nil)
        guard hops.isEmpty || plain.address == standard.address,
            plain.isSecure == nil || standard.isSecure == nil || plain.isSecure == standard.isSecure
        else {
            throw Problem(
                .invalidField,
                "Forwarded: it contradicts X-Forwarded-For or X-Forwarded-Proto; the proxy must set one form and remove the other",
                field: "Forwarded")
        }
        self.init(address: standard.address, isSecure: standard.isSecure ?? plain.isSecure)
    }

    /// What one proxy says about its peer.
    private struct Hop {
        let address: IPAddress?
        let scheme: String?
    }

    private init(address: IPAddress?, isSecure: Bool?) {
        self.address = address
        self.isSecure = isSecure
    }

    private init(_ hops: [Hop], trusts: (IPAddress) -> Bool, scheme: String?) {
        var address: IPAddress?
        var scheme = scheme
        for hop in hops.reversed() {
            scheme = hop.scheme ?? scheme
            // A proxy that hides an address, or does not know it, ends the chain.
            guard let next = hop.address else { break }
            let isTrusted = trusts(next)
            if !next.isLoopback { address = next }
            if !isTrusted { break }
        }
        self.init(address: address, isSecure: scheme.map { $0.lowercased() == "https" })
    }

    /// One element of `Forwarded`, such as `for="[2001:db8::1]:4711";proto=https`.
    private static func hop(_ element: Substring) -> Hop {
        var address: IPAddress?
        var scheme: String?
        for pair in items(of: element, separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let value = parts[1].filter { $0 != "\"" && $0 != "\\" }
            switch parts[0].lowercased() {
            case "for": address = Self.address(in: Substring(value))
            case "proto": scheme = value
            default: break
            }
        }
        return Hop(address: address, scheme: scheme)
    }

    /// An address, which may have a port. With a port, an IPv6 address has brackets.
    private static func address(in text: Substring) -> IPAddress? {
        if let address = IPAddress(text) { return address }
        guard let authority = HTTPAuthority(text) else { return nil }
        return IPAddress(authority.host.filter { $0 != "[" && $0 != "]" })
    }

    private static func lastItem(of text: String) -> String? {
        items(of: text, separator: ",").last.map(String.init)
    }

    /// The parts between separators that are not in quotes, without the spaces around them.
    private static func items(of text: some StringProtocol, separator: Character) -> [Substring] {
        var isQuoted = false
        return Substring(text).split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == separator && !isQuoted
        }.compactMap { item in
            let item = item.drop(while: \.isWhitespace)
            return item.lastIndex { !$0.isWhitespace }.map { item[...$0] }
        }
    }
}

extension IPAddress {
    /// The address of a connection's other end; `nil` for a socket that has none.
    init?(_ address: SocketAddress?) {
        guard let address else { return nil }
        // `sockaddr_in` and `sockaddr_in6` are the family, the port, (the flow,) and the address. Going through text would cost more.
        switch address {
        case .v4:
            self = address.withSockAddr { start, _ in
                IPAddress(ipv4: UInt32(bigEndian: UnsafeRawPointer(start).loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
            }
        case .v6:
            self = address.withSockAddr { start, _ in
                IPAddress(ipv6: UnsafeRawBufferPointer(start: UnsafeRawPointer(start) + 8, count: 16))
            }
        case .unixDomainSocket: return nil
        }
    }
}

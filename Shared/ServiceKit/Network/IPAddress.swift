import Glibc
import Schemas

/// An IPv4 or IPv6 address as a small value. An IPv4 address and its form as an IPv6 address (`::ffff:192.0.2.1`) are equal.
package struct IPAddress: Hashable, Sendable {
    /// The bits of the IPv6 form, in the machine's byte order.
    let bits: UInt128

    /// The prefix of IPv4-mapped IPv6 addresses, `::ffff:0:0/96`.
    private static let mappedPrefix = UInt128(0xffff) << 32

    init(bits: UInt128) {
        self.bits = bits
    }

    /// - Parameter ipv4: The bits of an IPv4 address, in the machine's byte order.
    package init(ipv4: UInt32) {
        bits = Self.mappedPrefix | UInt128(ipv4)
    }

    /// - Parameter ipv6: The 16 bytes of an IPv6 address, as they are sent.
    package init(ipv6: some Sequence<UInt8>) {
        bits = ipv6.reduce(0) { $0 << 8 | UInt128($1) }
    }

    /// - Returns: `nil` if the text is not an address. An IPv6 address has no brackets and no zone.
    package init?(_ text: some StringProtocol) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, String(text), &four) == 1 {
            self.init(ipv4: UInt32(bigEndian: four.s_addr))
        } else if inet_pton(AF_INET6, String(text), &six) == 1 {
            self.init(ipv6: withUnsafeBytes(of: six) { Array($0) })
        } else {
            return nil
        }
    }

    package var isIPv4: Bool { bits >> 32 == 0xffff }

    /// Whether only this machine can use the address.
    package var isLoopback: Bool {
        isIPv4 ? bits >> 24 & 0xff == 127 : bits == 1
    }

    /// Whether everyone on the internet reaches the address: it is neither this machine's nor one of a local network.
    package var isPublic: Bool {
        PublicAddresses.contain(v6: withUnsafeBytes(of: bits.bigEndian) { Array($0) })
    }

    /// Whether a server with this address listens on all of the machine's addresses.
    package var isWildcard: Bool { bits == 0 || bits == Self.mappedPrefix }

    /// The address without its last 64 bits if it is an IPv6 address. Providers give each customer such a network or a larger one,
    /// so a limit per address has to count it as one address.
    package var customer: IPAddress {
        isIPv4 || isLoopback ? self : IPAddress(bits: (bits >> 64) << 64)
    }

    /// The network in which limits count customers together: /48 of IPv6, which providers give to one site, and /24 of IPv4.
    package var site: IPAddress {
        isLoopback ? self : isIPv4 ? IPAddress(bits: (bits >> 8) << 8) : IPAddress(bits: (bits >> 80) << 80)
    }

    /// The address as the host of a URL: an IPv6 address has brackets.
    package var host: String { isIPv4 ? description : "[\(description)]" }
}

extension IPAddress: CustomStringConvertible {
    package var description: String {
        if isIPv4 {
            func part(_ shift: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> shift) }
            return "\(part(24)).\(part(16)).\(part(8)).\(part(0))"
        }
        var address = in6_addr()
        withUnsafeMutableBytes(of: &address) { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: bits >> (120 - 8 * index)) }
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &text, socklen_t(text.count)) != nil else { return "::" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// A range of IP addresses, written as `10.0.0.0/8`, `2001:db8::/32`, or as one address.
package struct IPNetwork: Hashable, Sendable {
    private let address: IPAddress
    /// The number of bits that all addresses of the network share, in the IPv6 form.
    private let prefix: Int

    /// - Returns: `nil` if the text is neither an address nor an address with the length of a prefix.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        let width = address.isIPv4 ? 32 : 128
        var length = width
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(parts[1]), number <= width else {
                return nil
            }
            length = number
        }
        self.address = address
        prefix = 128 - width + length
    }

    package func contains(_ other: IPAddress) -> Bool {
        // A shift by all bits gives 0.
        (address.bits ^ other.bits) >> UInt128(128 - prefix) == 0
    }
}

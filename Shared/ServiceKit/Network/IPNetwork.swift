/// A range of IP addresses, written as `10.0.0.0/8`, `2001:db8::/32`, or as one address.
package struct IPNetwork: Hashable, Sendable {
    private let address: IPAddress
    /// The number of bits that all addresses of the network share, in the IPv6 form.
    private let prefix: Int

    /// - Returns: `nil` for everything but an address, or an address and the length of a prefix.
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

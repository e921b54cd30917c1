/// The IP addresses that everyone on the internet reaches: neither those of this machine nor those of its local networks.
package enum PublicAddresses {
    /// IANA's registry of special-purpose addresses, and multicast.
    ///
    /// - Parameter bytes: The four bytes of an address, as they are sent.
    package static func contain(v4 bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _), (100, 64...127), (169, 254), (172, 16...31), (192, 168), (198, 18...19), (224..., _):
            false
        case (192, 0): bytes[2] != 0
        default: true
        }
    }

    /// Global unicast addresses are those of 2000::/3. Some of others contain one of IPv4.
    ///
    /// - Parameter bytes: The 16 bytes of an address, as they are sent.
    package static func contain(v6 bytes: [UInt8]) -> Bool {
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12].allSatisfy { $0 == 0xFF }
        // Those of a network's own translation, 64:ff9b:1::/48, are not public.
        let isTranslated = bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0])
        if isMapped || isTranslated { return contain(v4: Array(bytes[12...])) }
        // 6to4, then Teredo, and examples of documents.
        if bytes.starts(with: [0x20, 0x02]) { return contain(v4: Array(bytes[2..<6])) }
        if bytes.starts(with: [0x20, 0x01, 0, 0]) || bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8]) { return false }
        return bytes[0] & 0xE0 == 0x20
    }
}

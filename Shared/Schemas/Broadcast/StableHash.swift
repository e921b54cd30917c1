/// A hash that is the same in every process and version: FNV-1a of 64 bits. (Swift's own hash differs from process to process.) Two
/// texts with the same hash are easy to make, so it is no proof of anything.
package enum StableHash {
    /// The hash of some bytes.
    package static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// The hash of some bytes in 1 to 16 hexadecimal digits.
    package static func text(of bytes: some Sequence<UInt8>) -> String { String(of(bytes), radix: 16) }
}

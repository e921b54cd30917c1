import Base
package import FoundationEssentials

/// A checksum of the cube's channels, whatever their order is. By it a copy notices that it differs from the cube. In JSON it is text: up
/// to 16 hexadecimal digits.
///
/// It is the sum of a hash of each channel's JSON, so that texts count by their bytes: `==` of two texts is also true if one has é as one
/// scalar and the other as two.
package struct CubeDigest: Hashable, Sendable {
    package let value: UInt64

    /// The digest of a cube without channels.
    package static let empty = CubeDigest(value: 0)

    package init(value: UInt64) {
        self.value = value
    }

    /// - Throws: An encoder's error.
    package init(of channels: [Channel]) throws {
        self.init(ofJSON: try channels.map { try JSONCoder.encode($0) })
    }

    /// - Parameter channels: The JSON of each channel.
    package init(ofJSON channels: [Data]) {
        value = channels.reduce(0) { $0 &+ StableHash.of($1) }
    }
}

extension CubeDigest: LosslessStringConvertible, TextCodable {
    package static var expected: String { "up to 16 hexadecimal digits" }
    package static var example: String { "4bf92f3577b34da6" }

    package init?(_ description: String) {
        guard let value = UInt64(description, radix: 16) else { return nil }
        self.value = value
    }

    package var description: String { String(value, radix: 16) }
}

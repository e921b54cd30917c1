#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
import Base
import Synchronization

/// A MongoDB ObjectId: twelve bytes, written in JSON as 24 lower-case hexadecimal digits.
///
/// The first four bytes are the Unix time in seconds, the next five are random for each process, and the last three are
/// a counter. So identifiers of one process sort in the order of their creation, and several processes make unique ones
/// without coordination.
package struct ObjectID: Hashable, Sendable {
    /// Seconds since 1970 and the first four of the process's random bytes.
    private let high: UInt64
    /// The last random byte and the counter.
    private let low: UInt32

    /// Makes a new identifier.
    ///
    /// - Parameter seconds: The Unix time in the identifier; the current time except in tests.
    package init(seconds: UInt32 = UInt32(truncatingIfNeeded: time(nil))) {
        let count = Self.counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF_FFFF
        high = UInt64(seconds) << 32 | Self.processRandom >> 8
        low = UInt32(truncatingIfNeeded: Self.processRandom & 0xFF) << 24 | UInt32(count)
    }

    /// Reads 24 hexadecimal digits of either case; anything else is `nil`.
    package init?(_ text: some StringProtocol) {
        var text = String(text)
        guard let read = text.withUTF8({ Self(digits: $0) }) else { return nil }
        self = read
    }

    /// Reads the characters of 24 hexadecimal digits.
    package init?(digits: UnsafeBufferPointer<UInt8>) {
        guard digits.count == 24 else { return nil }
        var high: UInt64 = 0
        var low: UInt32 = 0
        var all: UInt8 = 0
        for position in 0..<16 {
            let value = digits[position].hexadecimalValue
            high = high << 4 | UInt64(value)
            all |= value
        }
        for position in 16..<24 {
            let value = digits[position].hexadecimalValue
            low = low << 4 | UInt32(value & 0xF)
            all |= value
        }
        guard all < 16 else { return nil }
        self.high = high
        self.low = low
    }

    /// Takes the twelve bytes in MongoDB's order; `nil` for another number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 12 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The twelve bytes in MongoDB's order.
    package var bytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) }
            + (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * $0)) }
    }

    /// When it was made, in whole seconds.
    package var created: UnixMilliseconds {
        UnixMilliseconds(rawValue: Int64(high >> 32) * 1_000)
    }

    private static let processRandom = UInt64.random(in: 0..<(1 << 40))
    private static let counter = Atomic<Int>(Int.random(in: 0..<(1 << 24)))
}

extension ObjectID: LosslessStringConvertible {
    /// 24 lower-case hexadecimal digits.
    package var description: String {
        String(unsafeUninitializedCapacity: 24) { buffer in
            write(into: buffer)
            return 24
        }
    }

    /// Writes the 24 digits into the beginning of a buffer.
    package func write(into buffer: UnsafeMutableBufferPointer<UInt8>) {
        for position in 0..<16 {
            buffer[position] = UInt8(truncatingIfNeeded: high >> UInt64(60 - 4 * position)).lowHexadecimalDigit
        }
        for position in 0..<8 {
            buffer[16 + position] = UInt8(truncatingIfNeeded: low >> UInt32(28 - 4 * position)).lowHexadecimalDigit
        }
    }

    package init?(_ description: String) {
        var description = description
        guard let read = description.withUTF8({ Self(digits: $0) }) else { return nil }
        self = read
    }
}

extension ObjectID: Comparable {
    package static func < (left: ObjectID, right: ObjectID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension ObjectID: TextCodable {
    package static var expected: String { "24 hexadecimal digits (an ObjectId)" }
    package static var pattern: String { "^[0-9A-Fa-f]{24}$" }
    package static var example: String { "6b0187feff0dafac2833f431" }
}

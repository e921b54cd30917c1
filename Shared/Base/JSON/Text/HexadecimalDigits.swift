/// Branch-free conversion of hexadecimal digits. An identifier's digits are random, so a branch would be mispredicted for every
/// third digit.
extension UInt8 {
    /// The value of an upper- or lower-case hexadecimal digit; 16 or more for any other character.
    @inlinable public var hexadecimalValue: UInt8 {
        let decimal = self &- UInt8(ascii: "0")
        let letter = (self | 0x20) &- UInt8(ascii: "a")
        return decimal < 10 ? decimal : letter < 6 ? letter &+ 10 : 0xFF
    }

    /// The lower-case digit of the low four bits.
    @inlinable public var lowHexadecimalDigit: UInt8 {
        let value = self & 0xF
        return value &+ (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") &- 10)
    }
}

extension Sequence<UInt8> {
    /// Two lower-case digits for each byte.
    package var hexadecimal: String {
        let bytes = Array(self)
        return String(unsafeUninitializedCapacity: bytes.count * 2) { digits in
            for (index, byte) in bytes.enumerated() {
                digits[2 * index] = (byte >> 4).lowHexadecimalDigit
                digits[2 * index + 1] = byte.lowHexadecimalDigit
            }
            return bytes.count * 2
        }
    }
}

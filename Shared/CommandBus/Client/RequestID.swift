import JSON
import Schemas

/// The ids of one client's requests: six random hexadecimal digits, which differ between clients, and a counter of nine digits.
/// A string of fifteen bytes is stored inline, without an allocation.
struct RequestIDFormat {
    private let prefix: UInt64

    init() {
        prefix = UInt64.random(in: 0..<(1 << 24))
    }

    private static let countDigits = 9
    private static let digits = 15

    func text(_ id: UInt64) -> String {
        String(unsafeUninitializedCapacity: Self.digits) { buffer in
            var rest = prefix << (4 * UInt64(Self.countDigits)) | Self.bounded(id)
            for position in (0..<Self.digits).reversed() {
                buffer[position] = UInt8(truncatingIfNeeded: rest).lowHexadecimalDigit
                rest >>= 4
            }
            return Self.digits
        }
    }

    /// The number of an id that this client issued; `nil` for any other text.
    func number(_ text: String) -> UInt64? {
        var text = text
        return text.withUTF8 { number(UnsafeRawBufferPointer($0)) }
    }

    /// Fast path: the number in a header of the common form, a success from a service of this project; `nil`
    /// for any other header.
    func number(ofSuccess header: UnsafeRawBufferPointer) -> UInt64? {
        let (beginning, end): (StaticString, StaticString) = ("{\"id\":\"", "\",\"status\":\"ok\"}")
        let idEnd = beginning.utf8CodeUnitCount + Self.digits
        guard header.count == idEnd + end.utf8CodeUnitCount,
            UnsafeRawBufferPointer(rebasing: header[..<beginning.utf8CodeUnitCount]).spells(beginning),
            UnsafeRawBufferPointer(rebasing: header[idEnd...]).spells(end)
        else { return nil }
        return number(UnsafeRawBufferPointer(rebasing: header[beginning.utf8CodeUnitCount..<idEnd]))
    }

    private func number(_ text: UnsafeRawBufferPointer) -> UInt64? {
        guard text.count == Self.digits else { return nil }
        var value: UInt64 = 0
        var wrong: UInt8 = 0
        for character in text {
            let digit = character.hexadecimalValue
            value = value << 4 | UInt64(digit & 0xF)
            // No digit, or an upper-case one.
            wrong |= digit & 0xF0 | ~character & 0x20
        }
        guard wrong == 0 else { return nil }
        return value >> (4 * UInt64(Self.countDigits)) == prefix ? Self.bounded(value) : nil
    }

    /// The part of a number that fits into an id. The counter wraps around after 69 thousand million requests.
    static func bounded(_ id: UInt64) -> UInt64 {
        id & (1 << (4 * UInt64(countDigits)) - 1)
    }
}

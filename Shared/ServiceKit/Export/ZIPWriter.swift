import Base
import FoundationEssentials
package import Schemas

/// Makes a ZIP archive entry by entry, without compression (PKWARE's APPNOTE 6.3.10). The entries and the archive may have 4 GiB.
package struct ZIPWriter: Sendable {
    /// The central directory, which follows the entries.
    private var directory: [UInt8] = []
    private var count: UInt16 = 0
    private var offset: UInt32 = 0
    /// The time of all entries in UTC, in the form of MS-DOS.
    private let time: UInt16
    private let date: UInt16

    package init(at now: UnixMilliseconds) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: Date(now))
        func part(_ value: Int?, shifted bits: Int) -> UInt16 { UInt16(truncatingIfNeeded: value ?? 0) << bits }
        time = part(parts.hour, shifted: 11) | part(parts.minute, shifted: 5) | part(parts.second, shifted: 0) / 2
        date = part((parts.year ?? 1_980) - 1_980, shifted: 9) | part(parts.month, shifted: 5) | part(parts.day, shifted: 0)
    }

    /// The bytes of a further entry.
    ///
    /// - Parameter name: With `/` between folders.
    package mutating func entry(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let name = Array(name.utf8)
        // The parts that both headers have: version 2.0, names in UTF-8, no compression.
        var common: [UInt8] = []
        for value in [20, 1 << 11, 0, time, date] as [UInt16] { common.append(littleEndian: value) }
        common.append(littleEndian: CRC32.checksum(of: content))
        let size = UInt32(content.count)
        for value in [size, size] { common.append(littleEndian: value) }
        for value in [UInt16(name.count), 0] { common.append(littleEndian: value) }

        var entry: [UInt8] = []
        entry.append(littleEndian: 0x0403_4B50 as UInt32)
        entry += common + name + content

        directory.append(littleEndian: 0x0201_4B50 as UInt32)
        // Made on Unix, for the mode.
        directory.append(littleEndian: 3 << 8 | 20 as UInt16)
        directory += common
        for value in [0, 0, 0] as [UInt16] { directory.append(littleEndian: value) }
        directory.append(littleEndian: 0o100_600 << 16 as UInt32)
        directory.append(littleEndian: offset)
        directory += name
        count += 1
        offset += UInt32(entry.count)
        return entry
    }

    /// The bytes behind the last entry.
    package func end() -> [UInt8] {
        var end = directory
        end.append(littleEndian: 0x0605_4B50 as UInt32)
        for value in [0, 0, count, count] { end.append(littleEndian: value) }
        for value in [UInt32(directory.count), offset] { end.append(littleEndian: value) }
        end.append(littleEndian: 0 as UInt16)
        return end
    }
}

/// The checksum of ZIP (ISO 3309).
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(byte) { sum, _ in sum & 1 == 0 ? sum >> 1 : 0xEDB8_8320 ^ sum >> 1 }
    }

    package static func checksum(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

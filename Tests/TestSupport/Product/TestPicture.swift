import Base
package import FoundationEssentials
import ServiceKit

/// PNG files that tests upload. Nothing in them is to be cut out, so the hub keeps them as they are.
package enum TestPicture {
    package static let mediaType = "image/png"
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The number of colours of a palette, and of its bytes.
    private static let colours = 16
    private static let side = 8
    /// The width of a picture with stripes.
    private static let width = 512

    /// A small picture whose colours are a text that a search finds.
    ///
    /// - Parameter palette: In ASCII. Its first 48 bytes count; missing ones are dots.
    package static func png(palette: String) -> Data {
        let size = 3 * colours
        let text = Array((palette + String(repeating: ".", count: size)).utf8.prefix(size))
        let row: [UInt8] = [0] + (0..<side).map { UInt8($0) }
        let rows = Array(repeatElement(row, count: side).joined())
        return file(width: side, height: side, colourType: 3, chunk("PLTE", text), rows)
    }

    /// The texts by which ``png(palette:)`` is found: in its bytes, and in Base64, as SQLite's file has it.
    ///
    /// - Parameter palette: Of 48 bytes.
    package static func traces(ofPalette palette: String) -> [String] {
        // Behind the signature, the header and its own name, the palette begins with the last byte of a group of three.
        let aligned = Array(palette.utf8.dropFirst().prefix(3 * (colours - 1)))
        return [palette, Data(aligned).base64EncodedString()]
    }

    /// A grey picture of vertical stripes. Its file is not compressed.
    ///
    /// - Parameters:
    ///   - bytes: The size of the file, about. A picture of the hub has at most 1 MiB.
    ///   - seed: Another one makes another picture.
    package static func stripes(bytes: Int, seed: UInt64) -> Data {
        let height = max(1, bytes / (width + 1))
        var random = SeededGenerator(seed: seed)
        let row: [UInt8] = [0] + (0..<width).map { _ in UInt8.random(in: 0...255, using: &random) }
        var rows: [UInt8] = []
        rows.reserveCapacity(height * row.count)
        for _ in 0..<height { rows += row }
        return file(width: width, height: height, colourType: 0, [], rows)
    }

    /// - Parameters:
    ///   - colourType: 0 is grey, 3 has a palette.
    ///   - palette: Its chunk; empty for none.
    ///   - rows: Eight bits for each point. Each row begins with the number of its filter.
    private static func file(width: Int, height: Int, colourType: UInt8, _ palette: [UInt8], _ rows: [UInt8]) -> Data {
        let sides: [UInt8] = bigEndian(UInt32(width)) + bigEndian(UInt32(height))
        let chunks: [[UInt8]] = [
            signature, chunk("IHDR", sides + [8, colourType, 0, 0, 0]), palette, chunk("IDAT", stored(rows)), chunk("IEND", []),
        ]
        return Data(chunks.joined())
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        let parts: [[UInt8]] = [bigEndian(UInt32(data.count)), body, bigEndian(CRC32.checksum(of: body))]
        return Array(parts.joined())
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    /// A stream of zlib without compression.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        stream.reserveCapacity(bytes.count + bytes.count / 1_000 + 16)
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(Int(UInt16.max))
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            stream.append(rest.isEmpty ? 1 : 0)
            for value in [length, ~length] {
                stream.append(UInt8(truncatingIfNeeded: value))
                stream.append(UInt8(truncatingIfNeeded: value >> 8))
            }
            stream += block
        } while !rest.isEmpty
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return stream + bigEndian(high << 16 | low)
    }
}

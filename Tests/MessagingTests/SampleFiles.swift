import FoundationEssentials
import Schemas
import ServiceKit

/// A PNG file of a test: a grey picture of 2 × 2 pixels, unless the test says otherwise.
enum SamplePNG {
    static let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let end = chunk("IEND", [])
    /// Two rows, which are not compressed.
    static let pixels: [UInt8] = [
        0x78, 0x01, 0x01, 6, 0, 0xF9, 0xFF, 0, 0x10, 0x20, 0, 0x30, 0x40, 0x01, 0x76, 0x00, 0xA1,
    ]
    static let image = chunk("IDAT", pixels)

    static func header(width: UInt32 = 2, height: UInt32 = 2, depth: UInt8 = 8, colours: UInt8 = 0) -> [UInt8] {
        chunk("IHDR", [bigEndian(width), bigEndian(height), [depth, colours, 0, 0, 0]].flatMap { $0 })
    }

    /// A file of these chunks.
    static func file(_ chunks: [UInt8]...) -> [UInt8] { start + chunks.flatMap { $0 } }

    /// A file of some size.
    static func file(bytes: Int) -> [UInt8] {
        let empty = file(header(), image, chunk("IDAT", []), end)
        return file(header(), image, chunk("IDAT", [UInt8](repeating: 7, count: bytes - empty.count)), end)
    }

    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = [UInt8](type.utf8) + data
        return bigEndian(UInt32(data.count)) + content + bigEndian(CRC32.checksum(of: content))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) } }
}

/// A JPEG file of a test: a grey picture of 8 × 8 pixels, unless the test says otherwise.
enum SampleJPEG {
    static let start: [UInt8] = [0xFF, 0xD8]
    static let end: [UInt8] = [0xFF, 0xD9]
    static let jfif = segment(0xE0, [UInt8]("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
    static let quantization = segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
    /// Tables with one code each: no difference to the block before, and no more values in a block.
    static let codes = segment(0xC4, [0x00, 1] + nothing) + segment(0xC4, [0x10, 1] + nothing)
    private static let nothing = [UInt8](repeating: 0, count: 16)

    static func frame(
        _ code: UInt8 = 0xC0, depth: UInt8 = 8, width: UInt16 = 8, height: UInt16 = 8, components: UInt8 = 1
    ) -> [UInt8] {
        var data: [UInt8] = [depth, UInt8(height >> 8), UInt8(height & 0xFF), UInt8(width >> 8), UInt8(width & 0xFF), components]
        for component in 0..<components { data += [component + 1, 0x11, 0] }
        return segment(code, data)
    }

    /// A scan of the first component, with its image.
    static func scan(_ image: [UInt8] = [0x3F]) -> [UInt8] { segment(0xDA, [1, 1, 0, 0, 63, 0]) + image }

    /// A file with the usual tables before these parts.
    static func file(_ parts: [UInt8]...) -> [UInt8] {
        let before = [start, jfif, quantization, codes]
        return (before + parts + [end]).flatMap { $0 }
    }

    static func segment(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
        let length = data.count + 2
        return [0xFF, code, UInt8(length >> 8), UInt8(length & 0xFF)] + data
    }
}

/// A WebP file of a test.
enum SampleWebP {
    static func file(_ chunks: [UInt8]...) -> [UInt8] {
        let content = [UInt8]("WEBP".utf8) + chunks.flatMap { $0 }
        return [UInt8]("RIFF".utf8) + littleEndian(UInt32(content.count)) + content
    }

    /// The header of an extended file.
    static func header(flags: UInt8, width: UInt32 = 12, height: UInt32 = 8) -> [UInt8] {
        var data: [UInt8] = [flags, 0, 0, 0]
        data += littleEndian(width - 1).prefix(3)
        data += littleEndian(height - 1).prefix(3)
        return chunk("VP8X", data)
    }

    /// A picture without losses, of which only the header can be read.
    static func lossless(width: UInt32, height: UInt32) -> [UInt8] {
        chunk("VP8L", [[0x2F], littleEndian((height - 1) << 14 | (width - 1)), [0, 0]].flatMap { $0 })
    }

    /// A key frame with losses, of which only the header can be read.
    static func lossy(width: UInt8, height: UInt8, tag: UInt8 = 0x30) -> [UInt8] {
        chunk("VP8 ", [tag, 0, 0, 0x9D, 0x01, 0x2A, width, 0, height, 0, 0, 0, 0, 0])
    }

    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: data.count % 2)
        return [UInt8](name.utf8) + littleEndian(UInt32(data.count)) + data + padding
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
    }
}

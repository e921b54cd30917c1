import ServiceKit

/// A PNG file of a test: a grey picture of 2 × 2 pixels, unless the test says otherwise.
enum SamplePNG {
    static let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let end: [UInt8] = chunk("IEND", [])
    /// Two rows, which are not compressed.
    static let pixels: [UInt8] = [
        0x78, 0x01, 0x01, 6, 0, 0xF9, 0xFF, 0, 0x10, 0x20, 0, 0x30, 0x40, 0x01, 0x76, 0x00, 0xA1,
    ]
    static let image: [UInt8] = chunk("IDAT", pixels)

    static func header(width: UInt32 = 2, height: UInt32 = 2, depth: UInt8 = 8, colours: UInt8 = 0) -> [UInt8] {
        chunk("IHDR", joined(rawBytes(width.bigEndian), rawBytes(height.bigEndian), [depth, colours, 0, 0, 0]))
    }

    /// A file of these chunks.
    static func file(_ chunks: [UInt8]...) -> [UInt8] { start + chunks.joined() }

    /// A file of some size.
    static func file(bytes: Int) -> [UInt8] {
        let empty = file(header(), image, chunk("IDAT", []), end)
        return file(header(), image, chunk("IDAT", [UInt8](repeating: 7, count: bytes - empty.count)), end)
    }

    static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = [UInt8](type.utf8) + data
        return joined(rawBytes(UInt32(data.count).bigEndian), content, rawBytes(CRC32.checksum(of: content).bigEndian))
    }
}

/// A JPEG file of a test: a grey picture of 8 × 8 pixels, unless the test says otherwise.
enum SampleJPEG {
    static let start: [UInt8] = [0xFF, 0xD8]
    static let end: [UInt8] = [0xFF, 0xD9]
    static let jfif: [UInt8] = segment(0xE0, [UInt8]("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
    static let quantization: [UInt8] = segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
    /// Tables with one code each: no difference to the block before, and no more values in a block.
    static let codes: [UInt8] = code(for: 0x00) + code(for: 0x10)

    private static func code(for table: UInt8) -> [UInt8] {
        segment(0xC4, [table, 1] + [UInt8](repeating: 0, count: 16))
    }

    static func frame(
        _ code: UInt8 = 0xC0, depth: UInt8 = 8, width: UInt16 = 8, height: UInt16 = 8, components: UInt8 = 1
    ) -> [UInt8] {
        var data = joined([depth], rawBytes(height.bigEndian), rawBytes(width.bigEndian), [components])
        for component in 0..<components { data += [component + 1, 0x11, 0] }
        return segment(code, data)
    }

    /// A scan of the first component, with its image.
    static func scan(_ image: [UInt8] = [0x3F]) -> [UInt8] { segment(0xDA, [1, 1, 0, 0, 63, 0]) + image }

    /// A file with the usual tables before these parts.
    static func file(_ parts: [UInt8]...) -> [UInt8] {
        joined(start, jfif, quantization, codes, [UInt8](parts.joined()), end)
    }

    static func segment(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
        let length = UInt16(data.count + 2)
        return joined([0xFF, code], rawBytes(length.bigEndian), data)
    }
}

/// A WebP file of a test.
enum SampleWebP {
    static func file(_ chunks: [UInt8]...) -> [UInt8] {
        let content = [UInt8]("WEBP".utf8) + chunks.joined()
        return joined([UInt8]("RIFF".utf8), rawBytes(UInt32(content.count).littleEndian), content)
    }

    /// The header of an extended file.
    static func header(flags: UInt8, width: UInt32 = 12, height: UInt32 = 8) -> [UInt8] {
        var data: [UInt8] = [flags, 0, 0, 0]
        for side in [width, height] { data += rawBytes((side - 1).littleEndian).prefix(3) }
        return chunk("VP8X", data)
    }

    /// A picture without losses, of which only the header can be read.
    static func lossless(width: UInt32, height: UInt32) -> [UInt8] {
        let sides: UInt32 = (height - 1) << 14 | (width - 1)
        return chunk("VP8L", joined([0x2F], rawBytes(sides.littleEndian), [0, 0]))
    }

    /// A key frame with losses, of which only the header can be read.
    static func lossy(width: UInt8, height: UInt8, tag: UInt8 = 0x30) -> [UInt8] {
        chunk("VP8 ", [tag, 0, 0, 0x9D, 0x01, 0x2A, width, 0, height, 0, 0, 0, 0, 0])
    }

    static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: data.count % 2)
        return joined([UInt8](name.utf8), rawBytes(UInt32(data.count).littleEndian), data, padding)
    }
}

/// One behind another. (A sum of many arrays would take the compiler long.)
func joined(_ parts: [UInt8]...) -> [UInt8] { [UInt8](parts.joined()) }

/// The bytes of a number, as the memory has it.
func rawBytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { [UInt8]($0) } }

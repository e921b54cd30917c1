import Schemas
import ServiceKit

/// A PNG file (W3C's recommendation, third edition), chunk by chunk.
struct PNGFile {
    static let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The valid depths by the type of colours.
    private static let depths: [Int: [Int]] = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]]
    /// The chunks that say how the pixels look, with their lengths. `sBIT` has a byte for each channel.
    private static let kept = ["gAMA": 4, "cHRM": 32, "sRGB": 1, "pHYs": 9]
    private static let channels = [0: 1, 2: 3, 3: 3, 4: 2, 6: 4]
    /// Type of colours: each pixel is the number of a colour of the palette.
    private static let palette = 3
    /// The header and the checksum of a compressed picture, with an empty block.
    private static let minImage = 8

    private let width: Int
    private let height: Int
    private let depth: Int
    private let colours: Int
    /// What comes before the image, from the beginning of the file.
    private var head: [UInt8]
    /// The types of these chunks.
    private var types: Set<String> = []
    private var paletteSize = 0
    /// The chunks with the image, the number of bytes in them, and the first two of these.
    private var image: [UInt8] = []
    private var imageBytes = 0
    private var imageStart: [UInt8] = []
    private var isImageOver = false
    private var orientation: PictureOrientation?

    static func read(_ file: [UInt8]) throws(PictureRefusal) -> PictureFile {
        var reader = PictureReader(file)
        _ = try reader.take(start.count)
        var png = try PNGFile(header: Chunk(from: &reader))
        var chunk = try Chunk(from: &reader)
        while chunk.type != "IEND" {
            try png.add(chunk)
            chunk = try Chunk(from: &reader)
        }
        guard chunk.data.isEmpty else { throw PictureRefusal.structure("IEND is not empty") }
        guard reader.isAtEnd else { throw PictureRefusal.trailing }
        return try png.picture()
    }

    private init(header: Chunk) throws(PictureRefusal) {
        guard header.type == "IHDR" else { throw PictureRefusal.structure("a PNG begins with IHDR") }
        var fields = PictureReader(header.data, of: "IHDR")
        width = try fields.bigEndian(4)
        height = try fields.bigEndian(4)
        depth = try fields.bigEndian(1)
        colours = try fields.bigEndian(1)
        let compression = try fields.bigEndian(1)
        let filter = try fields.bigEndian(1)
        let interlace = try fields.bigEndian(1)
        head = Self.start + header.bytes
        try PictureRefusal.check(width: width, height: height)
        guard fields.isAtEnd, Self.depths[colours]?.contains(depth) == true, compression == 0, filter == 0, interlace <= 1
        else { throw PictureRefusal.structure("IHDR is not as PNG has it") }
    }

    private mutating func add(_ chunk: Chunk) throws(PictureRefusal) {
        if chunk.type != "IDAT", !image.isEmpty { isImageOver = true }
        let length = chunk.data.count
        switch chunk.type {
        case "IDAT": try addImage(chunk)
        case "PLTE":
            paletteSize = length / 3
            let max = colours == Self.palette ? 1 << depth : 256
            let hasPalette = [2, 3, 6].contains(colours) && !types.contains("tRNS")
            try keep(chunk, if: length % 3 == 0 && paletteSize > 0 && paletteSize <= max && hasPalette)
        case "tRNS":
            let isInPalette = colours == Self.palette && length > 0 && length <= paletteSize
            try keep(chunk, if: isInPalette || colours == 0 && length == 2 || colours == 2 && length == 6)
        case "sBIT": try keep(chunk, if: length == Self.channels[colours])
        case "eXIf": orientation = orientation ?? PictureOrientation(exif: chunk.data)
        case "acTL", "fcTL", "fdAT": throw PictureRefusal.animated
        default:
            if let valid = Self.kept[chunk.type] { return try keep(chunk, if: length == valid) }
            // Texts, times, profiles and what programs add. Without other chunks no decoder could show the picture.
            guard chunk.isAncillary else { throw PictureRefusal.structure("\(chunk.type) is no chunk of PNG") }
        }
    }

    private mutating func keep(_ chunk: Chunk, if isValid: Bool) throws(PictureRefusal) {
        guard isValid, image.isEmpty, types.insert(chunk.type).inserted else {
            throw PictureRefusal.structure("\(chunk.type) is not as PNG has it")
        }
        head += chunk.bytes
    }

    private mutating func addImage(_ chunk: Chunk) throws(PictureRefusal) {
        guard !isImageOver, colours != Self.palette || paletteSize > 0 else {
            throw PictureRefusal.structure("IDAT is not where PNG has it")
        }
        image += chunk.bytes
        imageBytes += chunk.data.count
        imageStart += chunk.data.prefix(2 - imageStart.count)
    }

    private func picture() throws(PictureRefusal) -> PictureFile {
        guard imageBytes >= Self.minImage, hasZlibHeader else { throw PictureRefusal.structure("IDAT has no image") }
        let exif = orientation.map { Self.chunk("eXIf", $0.exif) } ?? []
        return PictureFile(
            type: .png, width: width, height: height, orientation: orientation,
            bytes: head + exif + image + Self.chunk("IEND", []))
    }

    /// RFC 1950: deflate with a window of at most 32 KiB, a checksum of the header, and no dictionary.
    private var hasZlibHeader: Bool {
        guard imageStart.count == 2 else { return false }
        let (method, flags) = (Int(imageStart[0]), Int(imageStart[1]))
        let isDeflate = method & 0x0F == 8 && method >> 4 <= 7
        let isChecked = (method << 8 | flags) % 31 == 0
        return isDeflate && isChecked && flags & 0x20 == 0
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = [UInt8](type.utf8) + data
        return [UInt8](bigEndian: UInt32(data.count)) + content + [UInt8](bigEndian: CRC32.checksum(of: content))
    }

    /// A part of the file, with its checksum checked.
    private struct Chunk {
        /// Four letters.
        let type: String
        let data: [UInt8]
        /// With its length, its type and its checksum.
        let bytes: [UInt8]

        init(from reader: inout PictureReader) throws(PictureRefusal) {
            let begin = reader.position
            let length = try reader.bigEndian(4)
            let name = try reader.take(4)
            guard name.allSatisfy(\.isLetter) else { throw PictureRefusal.structure("the type of a chunk has four letters") }
            type = String(decoding: name, as: UTF8.self)
            data = try reader.take(length)
            let sum = try reader.bigEndian(4)
            bytes = reader.bytes(since: begin)
            guard sum == Int(CRC32.checksum(of: name + data)) else {
                throw PictureRefusal(.checksum, "the file is damaged: the checksum of \(type) is another one")
            }
        }

        /// Whether a decoder may ignore it: its first letter is a small one.
        var isAncillary: Bool { type.utf8.first.map { $0 & 0x20 != 0 } ?? false }
    }
}

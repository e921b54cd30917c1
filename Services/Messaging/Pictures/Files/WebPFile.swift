import Schemas

/// A WebP file (RFC 9649), chunk by chunk.
struct WebPFile {
    private static let container = Array("RIFF".utf8)
    private static let form = Array("WEBP".utf8)
    private static let headerSize = 12

    /// The flags of an extended file.
    private enum Flag {
        static let alpha: UInt8 = 0x10
        static let exif: UInt8 = 0x08
        static let animation: UInt8 = 0x02
    }

    /// The chunk with the pixels.
    private struct Image {
        let name: String
        let data: [UInt8]
        let width: Int
        let height: Int
        let hasAlpha: Bool
    }

    /// The size in the header of an extended file; `nil` for a simple one.
    private var canvas: (width: Int, height: Int)?
    /// The channel of transparency, if it is stored apart.
    private var alpha: [UInt8]?
    private var image: Image?
    private var orientation: PictureOrientation?

    static func isStart(of file: [UInt8]) -> Bool {
        file.count >= headerSize && file.starts(with: container) && file[8..<headerSize].elementsEqual(form)
    }

    static func read(_ file: [UInt8]) throws(PictureRefusal) -> PictureFile {
        var reader = PictureReader(file)
        _ = try reader.take(container.count)
        let size = try reader.littleEndian(4)
        _ = try reader.take(form.count)
        guard size <= file.count - 8 else { throw PictureRefusal.truncated }
        guard size == file.count - 8 else { throw PictureRefusal.trailing }
        var webp = WebPFile()
        while !reader.isAtEnd { try webp.addChunk(from: &reader) }
        guard let image = webp.image else { throw PictureRefusal.structure("it has no image") }
        if let canvas = webp.canvas {
            guard canvas.width == image.width, canvas.height == image.height else {
                throw PictureRefusal.structure("it has two sizes")
            }
        }
        return PictureFile(
            type: .webp, width: image.width, height: image.height, orientation: webp.orientation,
            bytes: webp.cleaned(image))
    }

    private func cleaned(_ image: Image) -> [UInt8] {
        var chunks: [UInt8] = []
        if alpha != nil || orientation != nil {
            var flags: UInt8 = alpha != nil || image.hasAlpha ? Flag.alpha : 0
            if orientation != nil { flags |= Flag.exif }
            var header: [UInt8] = [flags, 0, 0, 0]
            for side in [image.width, image.height] { header += [UInt8](littleEndian: UInt32(side - 1)).prefix(3) }
            chunks += Self.chunk("VP8X", header)
        }
        if let alpha { chunks += Self.chunk("ALPH", alpha) }
        chunks += Self.chunk(image.name, image.data)
        if let orientation { chunks += Self.chunk("EXIF", orientation.exif) }
        let content = Self.form + chunks
        return Self.container + [UInt8](littleEndian: UInt32(content.count)) + content
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: data.count % 2)
        return [UInt8](name.utf8) + [UInt8](littleEndian: UInt32(data.count)) + data + padding
    }

    private mutating func addChunk(from reader: inout PictureReader) throws(PictureRefusal) {
        let letters = try reader.take(4)
        let name = String(decoding: letters, as: UTF8.self)
        let size = try reader.littleEndian(4)
        let data = try reader.take(size)
        _ = try reader.take(size % 2)
        switch name {
        case "VP8X": try addHeader(data)
        case "VP8 ", "VP8L":
            guard image == nil, alpha == nil || name == "VP8 " else { throw PictureRefusal.structure("it has two images") }
            let found = try name == "VP8L" ? Self.lossless(data) : Self.lossy(data)
            try PictureRefusal.check(width: found.width, height: found.height)
            image = found
        case "ALPH":
            // Stored as it is, or compressed as a lossless picture.
            guard canvas != nil, alpha == nil, image == nil, data.count > 1, data[0] & 0x03 <= 1 else {
                throw PictureRefusal.structure("ALPH is not as WebP has it")
            }
            alpha = data
        case "ANIM", "ANMF": throw PictureRefusal.animated
        default:
            // Metadata, profiles and what programs add, which only extended files have.
            guard canvas != nil else { throw PictureRefusal.structure("a simple WebP has one part") }
            if name == "EXIF" { orientation = orientation ?? Self.orientation(in: data) }
        }
    }

    private mutating func addHeader(_ data: [UInt8]) throws(PictureRefusal) {
        var fields = PictureReader(data, of: "VP8X")
        let flags = try fields.byte()
        _ = try fields.take(3)
        let width = try fields.littleEndian(3) + 1
        let height = try fields.littleEndian(3) + 1
        guard fields.isAtEnd, canvas == nil, image == nil else { throw PictureRefusal.structure("VP8X is not as WebP has it") }
        guard flags & Flag.animation == 0 else { throw PictureRefusal.animated }
        try PictureRefusal.check(width: width, height: height)
        canvas = (width, height)
    }

    /// The header of a key frame of VP8 (RFC 6386, section 9.1).
    private static func lossy(_ data: [UInt8]) throws(PictureRefusal) -> Image {
        var fields = PictureReader(data, of: "VP8")
        let tag = try fields.littleEndian(3)
        let code = try fields.bigEndian(3)
        let width = try fields.littleEndian(2)
        let height = try fields.littleEndian(2)
        let firstPart = tag >> 5
        guard code == 0x9D012A, tag & 1 == 0, tag >> 1 & 7 <= 3, tag >> 4 & 1 == 1, firstPart > 0,
            firstPart <= data.count - fields.position
        else { throw PictureRefusal.structure("VP8 is not as WebP has it") }
        // The two highest bits are a hint to scale it.
        return Image(name: "VP8 ", data: data, width: width & 0x3FFF, height: height & 0x3FFF, hasAlpha: false)
    }

    private static func lossless(_ data: [UInt8]) throws(PictureRefusal) -> Image {
        var fields = PictureReader(data, of: "VP8L")
        let signature = try fields.byte()
        let header = try fields.littleEndian(4)
        guard signature == 0x2F, header >> 29 == 0, !fields.isAtEnd else {
            throw PictureRefusal.structure("VP8L is not as WebP has it")
        }
        return Image(
            name: "VP8L", data: data, width: header & 0x3FFF + 1, height: header >> 14 & 0x3FFF + 1,
            hasAlpha: header >> 28 & 1 == 1)
    }

    /// Some programs write the name of JPEG's part before it.
    private static func orientation(in data: [UInt8]) -> PictureOrientation? {
        let name = Array("Exif\0\0".utf8)
        return PictureOrientation(exif: data.starts(with: name) ? Array(data.dropFirst(name.count)) : data)
    }
}

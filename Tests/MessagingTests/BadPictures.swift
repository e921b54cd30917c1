import Schemas
import Testing

@testable import Messaging

/// A file that is no picture which the hub takes, and why.
struct BadPicture: CustomTestStringConvertible, Sendable {
    let name: String
    let reason: PictureRefusal.Reason
    let bytes: [UInt8]

    var testDescription: String { name }

    init(_ name: String, _ reason: PictureRefusal.Reason, _ bytes: [UInt8]) {
        self.name = name
        self.reason = reason
        self.bytes = bytes
    }

    // In parts of a few: the compiler reads each as one expression.
    static let all: [BadPicture] = [
        texts, containers, beginnings, cut, sizes, jpegAndWebPSizes, pngs, pngColours, jpegFrames, jpegs, webps, webpImages,
    ].flatMap { $0 }

    private static func text(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

    private static func png(_ header: [UInt8] = SamplePNG.header(), _ chunks: [UInt8]...) -> [UInt8] {
        SamplePNG.file(header, chunks.flatMap { $0 }, SamplePNG.end)
    }

    private static func png(width: UInt32, height: UInt32 = 2) -> [UInt8] {
        png(SamplePNG.header(width: width, height: height), SamplePNG.image)
    }

    private static func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[60] ^= 1
        return bytes
    }

    private static let texts: [BadPicture] = [
        BadPicture("nothing", .type, []),
        BadPicture("a text", .type, text("Are you coming at three?")),
        BadPicture("an SVG", .type, text("<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>")),
        BadPicture("an HTML page", .type, text("<!doctype html><script>alert(1)</script>")),
    ]

    private static let containers: [BadPicture] = [
        BadPicture("a GIF", .type, joined(text("GIF89a"), [1, 0, 1, 0, 0, 0, 0, 0x3B])),
        BadPicture("a BMP", .type, joined(text("BM"), [UInt8](repeating: 0, count: 60))),
        BadPicture("an HEIC", .type, joined([0, 0, 0, 0x18], text("ftypheic"), [0, 0, 0, 0])),
        BadPicture("a sound in RIFF", .type, joined(text("RIFF"), [4, 0, 0, 0], text("WAVE"))),
    ]

    private static let beginnings: [BadPicture] = [
        BadPicture("a PNG behind an HTML page", .type, joined(text("<script>alert(1)</script>"), SamplePicture.png.bytes)),
        BadPicture("an HTML page with the head of a PNG", .structure, joined(SamplePNG.start, text("<html><script>"))),
        BadPicture("a PNG whose first part is a page", .structure, SamplePNG.file(SamplePNG.chunk("tEXt", text("<html>")))),
    ]

    /// Files that end too early or too late.
    private static let cut: [BadPicture] = SamplePicture.allCases.flatMap { picture -> [BadPicture] in
        let bytes = picture.bytes
        let half = [UInt8](bytes.prefix(bytes.count / 2 + 10))
        return [
            BadPicture("half of \(picture)", .truncated, half),
            BadPicture("an archive behind \(picture)", .trailing, joined(bytes, [0x50, 0x4B, 3, 4, 0, 0])),
        ]
    }

    private static let sizes: [BadPicture] = [
        BadPicture("a byte too much", .size, SamplePNG.file(bytes: MessagingLimits.maxPictureBytes + 1)),
        BadPicture("a PNG that is too wide", .sides, png(width: 4_097)),
        BadPicture("a PNG of 4 GiB of pixels", .sides, png(width: 65_535, height: 65_535)),
        BadPicture("a PNG with the largest numbers", .sides, png(width: .max, height: .max)),
        BadPicture("a PNG without width", .structure, png(width: 0)),
    ]

    private static let jpegAndWebPSizes: [BadPicture] = [
        BadPicture(
            "a JPEG that is too high", .sides, SampleJPEG.file(SampleJPEG.frame(height: 65_500), SampleJPEG.scan())),
        BadPicture("a WebP that is too wide", .sides, SampleWebP.file(SampleWebP.lossless(width: 16_384, height: 1))),
        BadPicture(
            "a WebP with a header that is too high", .sides,
            SampleWebP.file(SampleWebP.header(flags: 0, height: 16_000_000), SampleWebP.lossless(width: 12, height: 8))),
    ]

    private static let pngs: [BadPicture] = [
        BadPicture(
            "an animated PNG", .animated,
            png(SamplePNG.header(), SamplePNG.chunk("acTL", [0, 0, 0, 2, 0, 0, 0, 0]), SamplePNG.image)),
        BadPicture("a damaged PNG", .checksum, damaged(SamplePicture.png.bytes)),
        BadPicture(
            "a PNG with a part of an unknown kind", .structure,
            png(SamplePNG.header(), SamplePNG.chunk("ABCD", []), SamplePNG.image)),
        BadPicture(
            "a PNG with an image in two places", .structure,
            png(SamplePNG.header(), SamplePNG.image, SamplePNG.chunk("tEXt", []), SamplePNG.image)),
        BadPicture("a PNG with two headers", .structure, png(SamplePNG.header(), SamplePNG.header(), SamplePNG.image)),
        BadPicture("a PNG without an image", .structure, png()),
    ]

    private static let pngColours: [BadPicture] = [
        BadPicture(
            "a PNG whose image is a page", .structure,
            png(SamplePNG.header(), SamplePNG.chunk("IDAT", text("<html><script>")))),
        BadPicture("a PNG of unknown colours", .structure, png(SamplePNG.header(colours: 5), SamplePNG.image)),
        BadPicture("a PNG without its palette", .structure, png(SamplePNG.header(colours: 3), SamplePNG.image)),
        BadPicture(
            "a PNG with too many colours", .structure,
            png(
                SamplePNG.header(depth: 1, colours: 3), SamplePNG.chunk("PLTE", [UInt8](repeating: 9, count: 9)),
                SamplePNG.image)),
        BadPicture(
            "a PNG with transparency for too many colours", .structure,
            png(
                SamplePNG.header(colours: 3), SamplePNG.chunk("PLTE", [1, 2, 3]), SamplePNG.chunk("tRNS", [0, 1]),
                SamplePNG.image)),
        BadPicture(
            "a PNG with colours behind its image", .structure,
            png(SamplePNG.header(), SamplePNG.image, SamplePNG.chunk("sRGB", [0]))),
    ]

    private static let jpegFrames: [BadPicture] = [
        BadPicture("a JPEG with arithmetic coding", .structure, SampleJPEG.file(SampleJPEG.frame(0xC9), SampleJPEG.scan())),
        BadPicture("a JPEG without losses", .structure, SampleJPEG.file(SampleJPEG.frame(0xC3), SampleJPEG.scan())),
        BadPicture("a JPEG for printers", .structure, SampleJPEG.file(SampleJPEG.frame(components: 4), SampleJPEG.scan())),
        BadPicture("a JPEG of 12 bits", .structure, SampleJPEG.file(SampleJPEG.frame(0xC1, depth: 12), SampleJPEG.scan())),
        BadPicture(
            "a JPEG whose height comes later", .structure, SampleJPEG.file(SampleJPEG.frame(height: 0), SampleJPEG.scan())),
        BadPicture(
            "a JPEG of two frames", .structure, SampleJPEG.file(SampleJPEG.frame(), SampleJPEG.scan(), SampleJPEG.frame())),
        BadPicture("a JPEG without an image", .structure, SampleJPEG.file(SampleJPEG.frame())),
    ]

    private static let manyScans: [UInt8] = [[UInt8]](repeating: SampleJPEG.scan(), count: 101).flatMap { $0 }

    private static let jpegs: [BadPicture] = [
        BadPicture("a JPEG with an empty image", .structure, SampleJPEG.file(SampleJPEG.frame(), SampleJPEG.scan([]))),
        BadPicture(
            "a JPEG with a page between its parts", .structure,
            SampleJPEG.file(text("<html>"), SampleJPEG.frame(), SampleJPEG.scan())),
        BadPicture(
            "a JPEG with another picture inside", .structure,
            SampleJPEG.file(SampleJPEG.start, SampleJPEG.frame(), SampleJPEG.scan())),
        BadPicture(
            "a JPEG with a broken table", .structure,
            SampleJPEG.file(SampleJPEG.segment(0xDB, [0, 1, 2]), SampleJPEG.frame(), SampleJPEG.scan())),
        BadPicture(
            "a JPEG that a decoder has to go through 101 times", .structure,
            SampleJPEG.file(SampleJPEG.frame(0xC2), manyScans)),
        BadPicture(
            "a JPEG with restarts that it does not announce", .structure,
            SampleJPEG.file(SampleJPEG.frame(), SampleJPEG.scan([0x3F, 0xFF, 0xD0, 0x3F]))),
        BadPicture(
            "a JPEG that never ends", .truncated,
            [UInt8](SampleJPEG.file(SampleJPEG.frame(), SampleJPEG.scan()).dropLast(2))),
    ]

    private static let webps: [BadPicture] = [
        BadPicture(
            "an animated WebP", .animated,
            SampleWebP.file(SampleWebP.header(flags: 0x02), SampleWebP.chunk("ANIM", [0, 0, 0, 0, 0, 0]))),
        BadPicture(
            "a WebP with frames that it does not announce", .animated,
            SampleWebP.file(SampleWebP.header(flags: 0), SampleWebP.chunk("ANMF", [UInt8](repeating: 0, count: 16)))),
    ]

    private static let webpImages: [BadPicture] = [
        BadPicture(
            "a WebP of two sizes", .structure,
            SampleWebP.file(SampleWebP.header(flags: 0), SampleWebP.lossless(width: 4_000, height: 8))),
        BadPicture(
            "a WebP with two images", .structure,
            SampleWebP.file(
                SampleWebP.header(flags: 0), SampleWebP.lossless(width: 12, height: 8),
                SampleWebP.lossless(width: 12, height: 8))),
        BadPicture(
            "a simple WebP with a text", .structure,
            SampleWebP.file(SampleWebP.lossless(width: 12, height: 8), SampleWebP.chunk("XMP ", text("<x/>")))),
        BadPicture("a WebP that is no key frame", .structure, SampleWebP.file(SampleWebP.lossy(width: 12, height: 8, tag: 0x31))),
        BadPicture("a WebP without an image", .structure, SampleWebP.file(SampleWebP.header(flags: 0))),
        BadPicture(
            "a WebP whose image is a page", .structure,
            SampleWebP.file(SampleWebP.chunk("VP8 ", text("<html><script>")))),
    ]
}

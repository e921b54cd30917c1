import FoundationEssentials
import Schemas
import Testing

@testable import Messaging

/// What is left of a picture: what it looks like, and nothing about where, when and by whom it was taken.
@Suite("Cleaned pictures", .timeLimit(.minutes(10)))
struct PictureCleaningTests {
    private static func cleaned(_ bytes: [UInt8]) throws -> [UInt8] { [UInt8](try PictureFile.cleaned(Data(bytes)).bytes) }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains(text)
    }

    @Test("Position, camera, texts and times go, and all of the picture stays", arguments: SamplePicture.allCases)
    func metadata(picture: SamplePicture) throws {
        let file = SampleMetadata.add(to: picture, orientation: 1)
        for secret in SampleMetadata.secrets where picture.type != .webp || secret != "SecretAuthor" {
            #expect(Self.contains(file, secret))
        }
        // To the byte what it was before the camera's program wrote into it: it looks the same.
        #expect(try Self.cleaned(file) == picture.bytes)
    }

    @Test("Of the metadata the orientation stays alone", arguments: SamplePicture.allCases, [2, 6, 8] as [UInt16])
    func orientation(picture: SamplePicture, orientation: UInt16) throws {
        let cleaned = try Self.cleaned(SampleMetadata.add(to: picture, orientation: orientation))
        let exif: [UInt8] = [
            0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0,
        ]
        let bytes = picture.bytes
        switch picture.type {
        case .jpeg:
            let part = SampleJPEG.segment(0xE1, [UInt8]("Exif\0\0".utf8) + exif)
            #expect(cleaned == [UInt8](bytes.prefix(20)) + part + [UInt8](bytes.dropFirst(20)))
        case .png:
            let part = SamplePNG.chunk("eXIf", exif)
            #expect(cleaned == [UInt8](bytes.prefix(33)) + part + [UInt8](bytes.dropFirst(33)))
        case .webp:
            let image = [UInt8](bytes.dropFirst(picture == .webpWithAlpha ? 30 : 12))
            let header = SampleWebP.header(flags: picture == .webp ? 0x08 : 0x18)
            #expect(cleaned == SampleWebP.file(header, image, SampleWebP.chunk("EXIF", exif)))
        }
        #expect(try PictureFile.read(cleaned).orientation?.value == UInt8(orientation))
    }

    @Test("Metadata that cannot be read has no orientation")
    func brokenMetadata() {
        let exif = SampleMetadata.exif(orientation: 6)
        #expect(PictureOrientation(exif: exif)?.value == 6)
        // Of the orientation: its type, its count, its value. Of the directory: its place, and the number of its entries. Of all
        // numbers: the order of their bytes.
        let changes: [(Int, UInt8)] = [
            (24, 4), (26, 2), (30, 9), (30, 0), (4, 0xF0), (7, 0xFF), (8, 1), (0, 0x4D),
        ]
        for (place, value) in changes {
            var broken = exif
            broken[place] = value
            #expect(PictureOrientation(exif: broken) == nil, "byte \(place)")
        }
        for count in 0..<32 { #expect(PictureOrientation(exif: [UInt8](exif.prefix(count))) == nil) }
        #expect(PictureOrientation(exif: SampleMetadata.exif(orientation: 0x0600)) == nil)
    }

    @Test("The orientation of a PNG stays wherever it was, and metadata behind a JPEG's image does not count")
    func places() throws {
        let exif = SampleMetadata.exif(orientation: 3)
        let late = SamplePNG.file(SamplePNG.header(), SamplePNG.image, SamplePNG.chunk("eXIf", exif), SamplePNG.end)
        let early = SamplePNG.file(SamplePNG.header(), SamplePNG.chunk("eXIf", exif), SamplePNG.image, SamplePNG.end)
        #expect(try Self.cleaned(late) == Self.cleaned(early))
        #expect(try PictureFile.read(late).orientation?.value == 3)
        let part = SampleJPEG.segment(0xE1, [UInt8]("Exif\0\0".utf8) + exif)
        let jpeg = SampleJPEG.file(SampleJPEG.frame(), SampleJPEG.scan(), part)
        #expect(try Self.cleaned(jpeg) == SampleJPEG.file(SampleJPEG.frame(), SampleJPEG.scan()))
    }

    @Test("What says how a JPEG's channels become colours stays, without previews and profiles")
    func jpegParts() throws {
        let rest: [[UInt8]] = [
            SampleJPEG.quantization, SampleJPEG.codes, SampleJPEG.frame(components: 3), SampleJPEG.scan(), SampleJPEG.end,
        ]
        let tail = rest.flatMap { $0 }
        func text(_ text: String) -> [UInt8] { [UInt8](text.utf8) }
        let preview = SampleJPEG.segment(0xE0, text("JFIF\0") + [1, 2, 1, 0, 72, 0, 72, 1, 1, 7, 7, 7])
        let extended = SampleJPEG.segment(0xE0, text("JFXX\0") + [0x10, 1, 2, 3])
        let profile = SampleJPEG.segment(0xE2, text("ICC_PROFILE\0SecretCamera"))
        let adobe: [UInt8] = text("Adobe") + [0, 100, 0, 0, 0, 0, 1]
        let longAdobe = SampleJPEG.segment(0xEE, adobe + [9, 9])
        let parts: [[UInt8]] = [SampleJPEG.start, preview, extended, profile, longAdobe, tail]
        let jfif = SampleJPEG.segment(0xE0, text("JFIF\0") + [1, 2, 1, 0, 72, 0, 72, 0, 0])
        let kept: [[UInt8]] = [SampleJPEG.start, jfif, SampleJPEG.segment(0xEE, adobe), tail]
        #expect(try Self.cleaned(parts.flatMap { $0 }) == kept.flatMap { $0 })
        // A marker may begin with several bytes FF.
        let filled: [[UInt8]] = [SampleJPEG.start, SampleJPEG.jfif, [0xFF, 0xFF], tail]
        let plain: [[UInt8]] = [SampleJPEG.start, SampleJPEG.jfif, tail]
        #expect(try Self.cleaned(filled.flatMap { $0 }) == plain.flatMap { $0 })
    }
}

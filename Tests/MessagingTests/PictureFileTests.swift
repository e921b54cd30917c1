import Base
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@testable import Messaging

/// Which files are pictures: they are read from their headers.
@Suite("Files of pictures", .timeLimit(.minutes(10)))
struct PictureFileTests {
    @Test("What is no picture is refused, and the reason is said", arguments: BadPicture.all)
    func bad(picture: BadPicture) {
        let refusal = Self.refusal(of: picture.bytes)
        #expect(refusal?.reason == picture.reason, "\(refusal?.sentence ?? "taken")")
        let failure = refusal.map { CommandFailure($0) }
        #expect(failure?.status == .invalid && failure?.field == "picture")
        #expect(failure?.message.contains("<") == false)
    }

    private static func refusal(of bytes: [UInt8]) -> PictureRefusal? {
        do throws(PictureRefusal) {
            _ = try PictureFile.cleaned(Data(bytes))
            return nil
        } catch {
            return error
        }
    }

    @Test("Pictures of browsers are taken as they are, by their bytes", arguments: SamplePicture.allCases)
    func sample(picture: SamplePicture) throws {
        let (bytes, info) = try PictureFile.cleaned(Data(picture.bytes))
        #expect([UInt8](bytes) == picture.bytes)
        #expect(info.type == picture.type && info.bytes == picture.bytes.count)
        #expect(info.width == SamplePicture.width && info.height == SamplePicture.height)
    }

    @Test("Pictures of many forms are taken as they are", arguments: GoodPicture.all)
    func form(good: GoodPicture) throws {
        #expect(try [UInt8](PictureFile.cleaned(Data(good.bytes)).bytes) == good.bytes)
    }

    @Test("No beginning of a picture is one, and no other byte in it makes the service end", arguments: SamplePicture.allCases)
    func anyBytes(picture: SamplePicture) throws {
        let bytes = picture.bytes
        for count in 0..<bytes.count { #expect(Self.refusal(of: [UInt8](bytes.prefix(count))) != nil) }
        var random = SeededGenerator(seed: 37)
        let whole = SampleMetadata.add(to: picture, orientation: 6)
        for _ in 0..<(Level.isAll ? 100_000 : 2_000) {
            var other = whole
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                other[Int.random(in: 0..<other.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do throws(PictureRefusal) {
                let (cleaned, info) = try PictureFile.cleaned(Data(other))
                #expect(cleaned.count == info.bytes && info.width <= 4_096 && info.height <= 4_096)
            } catch {
                #expect(!error.sentence.isEmpty)
            }
        }
    }
}

/// A file that is a picture.
struct GoodPicture: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) {
        testDescription = name
        self.bytes = bytes
    }

    static let all: [GoodPicture] = [pngs, jpegsAndWebPs].flatMap { $0 }

    private static let palette: [UInt8] = SamplePNG.file(
        SamplePNG.header(depth: 1, colours: 3), SamplePNG.chunk("gAMA", [0, 0, 177, 143]),
        SamplePNG.chunk("PLTE", [1, 2, 3, 4, 5, 6]), SamplePNG.chunk("tRNS", [0]),
        SamplePNG.chunk("pHYs", [0, 0, 14, 195, 0, 0, 14, 195, 1]), SamplePNG.image, SamplePNG.end)

    private static let pngs: [GoodPicture] = [
        GoodPicture("a grey PNG", SamplePNG.file(SamplePNG.header(), SamplePNG.image, SamplePNG.end)),
        GoodPicture("a PNG of 1 MiB", SamplePNG.file(bytes: MessagingLimits.maxPictureBytes)),
        GoodPicture("a PNG of 16 bits", SamplePNG.file(SamplePNG.header(depth: 16, colours: 6), SamplePNG.image, SamplePNG.end)),
        GoodPicture(
            "the largest PNG",
            SamplePNG.file(SamplePNG.header(width: 4_096, height: 4_096), SamplePNG.image, SamplePNG.end)),
        GoodPicture("a PNG with a palette", palette),
    ]

    private static let progressive: [UInt8] = SampleJPEG.file(
        SampleJPEG.frame(0xC2), SampleJPEG.scan(), SampleJPEG.codes, SampleJPEG.scan([1, 0xFF, 0, 2]))
    private static let withRestarts: [UInt8] = SampleJPEG.file(
        SampleJPEG.segment(0xDD, [0, 1]), SampleJPEG.frame(width: 16), SampleJPEG.scan([0x3F, 0xFF, 0xD0, 0x3F]))

    private static let jpegsAndWebPs: [GoodPicture] = [
        GoodPicture("a grey JPEG", SampleJPEG.file(SampleJPEG.frame(), SampleJPEG.scan())),
        GoodPicture("a JPEG in colours", SampleJPEG.file(SampleJPEG.frame(components: 3), SampleJPEG.scan())),
        GoodPicture("a progressive JPEG", progressive),
        GoodPicture("a JPEG with restarts", withRestarts),
        GoodPicture("a WebP with losses", SampleWebP.file(SampleWebP.lossy(width: 12, height: 8))),
    ]
}

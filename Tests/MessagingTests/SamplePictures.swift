import FoundationEssentials
import Schemas

/// Pictures of 12 × 8 pixels as Chromium makes them: a red and a green rectangle, without metadata.
enum SamplePicture: String, CaseIterable, Sendable {
    case jpeg, png, webp, webpWithAlpha, losslessWebP

    static let (width, height) = (12, 8)

    var type: PictureType {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp, .webpWithAlpha, .losslessWebP: .webp
        }
    }

    var bytes: [UInt8] { [UInt8](Data(base64Encoded: base64.replacing("\n", with: "")) ?? Data()) }

    private var base64: String {
        switch self {
        case .jpeg:
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hn
            Pk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2Nj
            Y2P/wAARCAAIAAwDASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAUG/8QAHhAAAQQCAwEAAAAAAAAAAAAAAgEEESEAAwYSE0H/
            xAAVAQEBAAAAAAAAAAAAAAAAAAACA//EABkRAAMAAwAAAAAAAAAAAAAAAAABAgMREv/aAAwDAQACEQMRAD8AovmHITeOC0G68y2koQ5R
            E6zVdqrNQxHaDFuO+fYdQocrK9ou/t4xgmOWUrI6Wmf/2Q==
            """
        case .png:
            """
            iVBORw0KGgoAAAANSUhEUgAAAAwAAAAICAYAAADN5B7xAAAAT0lEQVR4AZSM2wkAIAhFo0Hco736r/7bqz2cJBIUEbQSDj64x5w+i4QF
            0CP0TxL04TaLUCY2jSeK4AXsXYRVYWhskHcSCmKP4PDpJJzhlQ0AAP//FJfJKAAAAAZJREFUAwDGWDARMh2zvQAAAABJRU5ErkJggg==
            """
        case .webp:
            """
            UklGRl4AAABXRUJQVlA4IFIAAADwAQCdASoMAAgAA4BaJagCw7ERH9i9ogAA/mz1QZ96tD7EIvayzD7WpTKcaTN/vw+8Bn2qlbGsCfEM
            DISEqWTcMu/N4fNwbLqvkszJ9Ynrh8gA
            """
        case .webpWithAlpha:
            """
            UklGRngAAABXRUJQVlA4WAoAAAAQAAAACwAABwAAQUxQSCIAAAABFyAQSFKffI2ICAcFbdswUVCO4Kc5EhH9T2DOOSONdE4eVlA4IDAA
            AABwAQCdASoMAAgAA4BaJbACdAFAAAD+655Li34UNz8gEHg/HjLT/JvIpbmuGZBcAAA=
            """
        case .losslessWebP:
            """
            UklGRkgAAABXRUJQVlA4TDwAAAAvC8ABEBcgkE1OEnH+Ewsm08r/SEsgkESyP9ckAoKi50wP6L6DgjaSop7HD9CHUjAR0f85QFZkxT3P
            DwA=
            """
        }
    }
}

/// What a camera writes into a picture: its name, the place, and how the picture is turned.
enum SampleMetadata {
    /// Texts of which nothing may be left.
    static let secrets = ["SecretCamera", "SecretPlace", "SecretAuthor"]

    private static let camera = [UInt8]("SecretCamera\0\0".utf8)
    private static let author = [UInt8]("SecretAuthor".utf8)
    private static let place = [UInt8]("<x>SecretPlace</x>".utf8)

    /// A picture with a camera, an orientation, a position and texts.
    static func add(to picture: SamplePicture, orientation: UInt16) -> [UInt8] {
        let (file, exif) = (picture.bytes, Self.exif(orientation: orientation))
        switch picture.type {
        case .jpeg:
            let parts: [[UInt8]] = [
                SampleJPEG.segment(0xE1, text("Exif\0\0", exif)),
                SampleJPEG.segment(0xE1, text("http://ns.adobe.com/xap/1.0/\0", place)),
                SampleJPEG.segment(0xED, place), SampleJPEG.segment(0xFE, author),
            ]
            // Behind JFIF.
            return inserted(parts, into: file, at: 20)
        case .png:
            let parts: [[UInt8]] = [
                SamplePNG.chunk("eXIf", exif), SamplePNG.chunk("tEXt", text("Author\0", author)),
                SamplePNG.chunk("iTXt", text("XML:com.adobe.xmp\0\0\0\0\0", place)),
                SamplePNG.chunk("tIME", [7, 234, 5, 1, 12, 0, 0]),
            ]
            // Behind IHDR.
            return inserted(parts, into: file, at: 33)
        case .webp:
            let hasHeader = picture == .webpWithAlpha
            let flags: UInt8 = picture == .webp ? 0x2C : 0x3C
            return SampleWebP.file(
                SampleWebP.header(flags: flags), SampleWebP.chunk("ICCP", camera),
                [UInt8](file.dropFirst(hasHeader ? 30 : 12)), SampleWebP.chunk("EXIF", exif), SampleWebP.chunk("XMP ", place))
        }
    }

    /// A text, and bytes behind it.
    private static func text(_ text: String, _ bytes: [UInt8]) -> [UInt8] { [UInt8](text.utf8) + bytes }

    private static func inserted(_ parts: [[UInt8]], into file: [UInt8], at place: Int) -> [UInt8] {
        var bytes = [UInt8](file.prefix(place))
        for part in parts { bytes += part }
        return bytes + file.dropFirst(place)
    }

    /// A TIFF file with the camera, the orientation, and a position to the north of the equator.
    static func exif(orientation: UInt16) -> [UInt8] {
        // Three entries, and behind them what does not fit into them.
        let directoryEnd: UInt32 = 8 + 2 + 3 * 12 + 4
        let positions = directoryEnd + UInt32(camera.count)
        let positionsEnd: UInt32 = positions + 2 + 2 * 12 + 4
        var bytes = [UInt8]("II*\0".utf8)
        bytes += number(8 as UInt32)
        bytes += number(3 as UInt16)
        bytes += entry(0x010F, type: 2, count: UInt32(camera.count), number(directoryEnd))
        bytes += entry(0x0112, type: 3, count: 1, number(orientation) + [0, 0])
        bytes += entry(0x8825, type: 4, count: 1, number(positions))
        bytes += number(0 as UInt32)
        bytes += camera
        bytes += number(2 as UInt16)
        bytes += entry(1, type: 2, count: 2, [UInt8]("N\0\0\0".utf8))
        bytes += entry(2, type: 5, count: 3, number(positionsEnd))
        bytes += number(0 as UInt32)
        for part in [46, 1, 57, 1, 999, 100] as [UInt32] { bytes += number(part) }
        return bytes
    }

    private static func entry(_ tag: UInt16, type: UInt16, count: UInt32, _ value: [UInt8]) -> [UInt8] {
        joined(number(tag), number(type), number(count), value)
    }

    private static func number(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) }
    }
}

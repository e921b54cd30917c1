import Base
import Schemas

/// A JPEG file (ITU-T T.81 with the parts of JFIF, Exif and Adobe), marker by marker.
struct JPEGFile {
    static let start: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// The markers (T.81, table B.1).
    private enum Marker {
        static let baseline: UInt8 = 0xC0
        static let extended: UInt8 = 0xC1
        static let progressive: UInt8 = 0xC2
        static let huffmanTables: UInt8 = 0xC4
        static let restarts: ClosedRange<UInt8> = 0xD0...0xD7
        static let end: UInt8 = 0xD9
        static let scan: UInt8 = 0xDA
        static let quantizationTables: UInt8 = 0xDB
        static let restartInterval: UInt8 = 0xDD
        static let jfif: UInt8 = 0xE0
        static let exif: UInt8 = 0xE1
        static let adobe: UInt8 = 0xEE
        static let application: ClosedRange<UInt8> = 0xE0...0xEF
        static let comment: UInt8 = 0xFE
    }

    /// The size of the picture, and its channels.
    private struct Frame {
        let width: Int
        let height: Int
        let components: [UInt8]
        let isProgressive: Bool

        /// A decoder goes through the whole picture for each scan. Programs make about ten of them.
        var maxScans: Int { isProgressive ? 100 : components.count }
    }

    private static let jfifName = Array("JFIF\0".utf8)
    private static let exifName = Array("Exif\0\0".utf8)
    private static let adobeName = Array("Adobe".utf8)
    /// The lengths of the parts of JFIF, without its preview, and of Adobe.
    private static let partSize = 12

    private var frame: Frame?
    private var scans = 0
    private var hasRestarts = false
    /// The parts that say how the channels become colours.
    private var jfif: [UInt8]?
    private var adobe: [UInt8]?
    private var orientation: PictureOrientation?
    /// The tables, the frame and the scans.
    private var body: [UInt8] = []

    static func read(_ file: [UInt8]) throws(PictureRefusal) -> PictureFile {
        var reader = PictureReader(file)
        _ = try reader.take(2)
        var jpeg = JPEGFile()
        var code = try marker(from: &reader)
        while code != Marker.end {
            try jpeg.add(code, from: &reader)
            code = try marker(from: &reader)
        }
        guard let frame = jpeg.frame, jpeg.scans > 0 else { throw PictureRefusal.structure("it has no image") }
        guard reader.isAtEnd else { throw PictureRefusal.trailing }
        return PictureFile(
            type: .jpeg, width: frame.width, height: frame.height, orientation: jpeg.orientation, bytes: jpeg.cleaned)
    }

    private var cleaned: [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xD8]
        if let jfif { bytes += Self.segment(Marker.jfif, jfif) }
        if let orientation { bytes += Self.segment(Marker.exif, Self.exifName + orientation.exif) }
        if let adobe { bytes += Self.segment(Marker.adobe, adobe) }
        bytes += body
        bytes += [0xFF, Marker.end]
        return bytes
    }

    private static func segment(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
        let length = UInt16(data.count + 2)
        return [0xFF, code] + [UInt8](bigEndian: length) + data
    }

    /// Reads a marker, of which the first byte may be repeated.
    private static func marker(from reader: inout PictureReader) throws(PictureRefusal) -> UInt8 {
        guard try reader.byte() == 0xFF else { throw PictureRefusal.structure("something is between two markers") }
        var code = try reader.byte()
        while code == 0xFF { code = try reader.byte() }
        return code
    }

    /// Reads the segment of a marker.
    private mutating func add(_ code: UInt8, from reader: inout PictureReader) throws(PictureRefusal) {
        let isApplication = Marker.application.contains(code)
        let known = [
            Marker.baseline, Marker.extended, Marker.progressive, Marker.huffmanTables, Marker.scan,
            Marker.quantizationTables, Marker.restartInterval, Marker.comment,
        ]
        // Others are of arithmetic coding, of several frames, or of pictures whose height comes later.
        guard isApplication || known.contains(code) else {
            throw PictureRefusal.structure("the marker FF \([code].hexadecimal)")
        }
        let length = try reader.bigEndian(2)
        guard length >= 2 else { throw PictureRefusal.structure("a part without its length") }
        let data = try reader.take(length - 2)
        if isApplication { return addApplication(code, data) }
        if code == Marker.comment { return }
        switch code {
        case Marker.huffmanTables: try Self.checkHuffmanTables(data)
        case Marker.quantizationTables: try Self.checkQuantizationTables(data)
        case Marker.restartInterval:
            guard data.count == 2 else { throw PictureRefusal.structure("the restart interval") }
            hasRestarts = data != [0, 0]
        case Marker.scan: try addScan(data)
        default: try addFrame(data, isProgressive: code == Marker.progressive)
        }
        body += Self.segment(code, data)
        if code == Marker.scan { try addImage(from: &reader) }
    }

    /// Keeps what an application's part says about the picture. A decoder ignores what comes after the first scan.
    private mutating func addApplication(_ code: UInt8, _ data: [UInt8]) {
        guard scans == 0 else { return }
        switch code {
        case Marker.jfif where jfif == nil && data.count >= Self.partSize + 2 && data.starts(with: Self.jfifName):
            jfif = Array(data.prefix(Self.partSize)) + [0, 0]
        case Marker.exif where orientation == nil && data.starts(with: Self.exifName):
            orientation = PictureOrientation(exif: Array(data.dropFirst(Self.exifName.count)))
        case Marker.adobe where adobe == nil && data.count >= Self.partSize && data.starts(with: Self.adobeName):
            adobe = Array(data.prefix(Self.partSize))
        default: break
        }
    }

    private mutating func addFrame(_ data: [UInt8], isProgressive: Bool) throws(PictureRefusal) {
        var fields = PictureReader(data, of: "the frame")
        let depth = try fields.byte()
        let height = try fields.bigEndian(2)
        let width = try fields.bigEndian(2)
        let count = try fields.bigEndian(1)
        guard frame == nil, depth == 8, count == 1 || count == 3 else {
            throw PictureRefusal.structure("it has not one frame of grey or coloured pixels with 8 bits for each channel")
        }
        try PictureRefusal.check(width: width, height: height)
        var components: [UInt8] = []
        for _ in 0..<count {
            let component = try fields.byte()
            let sampling = try fields.byte()
            let table = try fields.byte()
            let sizes: ClosedRange<UInt8> = 1...4
            guard sizes.contains(sampling >> 4), sizes.contains(sampling & 0x0F), table <= 3, !components.contains(component)
            else { throw PictureRefusal.structure("the frame") }
            components.append(component)
        }
        guard fields.isAtEnd else { throw PictureRefusal.structure("the frame") }
        frame = Frame(width: width, height: height, components: components, isProgressive: isProgressive)
    }

    private mutating func addScan(_ data: [UInt8]) throws(PictureRefusal) {
        var fields = PictureReader(data, of: "a scan")
        let count = try fields.bigEndian(1)
        guard let frame, count >= 1, count <= frame.components.count else { throw PictureRefusal.structure("a scan") }
        var components: Set<UInt8> = []
        for _ in 0..<count {
            let component = try fields.byte()
            let tables = try fields.byte()
            guard frame.components.contains(component), components.insert(component).inserted, tables >> 4 <= 3,
                tables & 0x0F <= 3
            else { throw PictureRefusal.structure("a scan") }
        }
        let first = try fields.byte()
        let last = try fields.byte()
        // The precision of a progressive scan.
        _ = try fields.byte()
        guard first <= last, last <= 63, fields.isAtEnd else { throw PictureRefusal.structure("a scan") }
        scans += 1
        guard scans <= frame.maxScans else { throw PictureRefusal.structure("more than \(frame.maxScans) scans") }
    }

    /// Reads the coded image of a scan, up to the next marker. In it, a byte FF is followed by 00 or is a restart.
    private mutating func addImage(from reader: inout PictureReader) throws(PictureRefusal) {
        let begin = body.count
        while true {
            body += try reader.take(until: 0xFF)
            let place = reader.position
            let code = try Self.marker(from: &reader)
            if code == 0, reader.position == place + 2 {
                body += [0xFF, 0]
            } else if hasRestarts, Marker.restarts.contains(code) {
                body += [0xFF, code]
            } else {
                reader.goBack(to: place)
                guard body.count > begin else { throw PictureRefusal.structure("a scan is empty") }
                return
            }
        }
    }

    private static func checkHuffmanTables(_ data: [UInt8]) throws(PictureRefusal) {
        var fields = PictureReader(data, of: "a Huffman table")
        repeat {
            let place = try fields.byte()
            let counts = try fields.take(16)
            let count = counts.reduce(0) { $0 + Int($1) }
            guard place >> 4 <= 1, place & 0x0F <= 3, count <= 256 else { throw PictureRefusal.structure("a Huffman table") }
            _ = try fields.take(count)
        } while !fields.isAtEnd
    }

    private static func checkQuantizationTables(_ data: [UInt8]) throws(PictureRefusal) {
        var fields = PictureReader(data, of: "a quantization table")
        repeat {
            let place = try fields.byte()
            guard place >> 4 <= 1, place & 0x0F <= 3 else { throw PictureRefusal.structure("a quantization table") }
            _ = try fields.take(64 << Int(place >> 4))
        } while !fields.isAtEnd
    }
}

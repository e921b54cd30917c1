/// How a picture is turned or mirrored when it is shown: the one thing of its metadata that stays.
struct PictureOrientation: Hashable, Sendable {
    private static let tag = 0x0112
    private static let shortType = 3
    private static let entrySize = 12

    /// The value of Exif, 2 to 8. With 1 the picture is shown as it is stored, as without one.
    let value: UInt8

    /// The orientation in the metadata of a picture; `nil` for none, and for metadata that cannot be read: nothing else of it is
    /// kept.
    ///
    /// - Parameter exif: A TIFF file, which Exif is.
    init?(exif: [UInt8]) {
        let isLittleEndian = exif.starts(with: [0x49, 0x49, 0x2A, 0])
        guard isLittleEndian || exif.starts(with: [0x4D, 0x4D, 0, 0x2A]) else { return nil }
        func number(at place: Int, _ count: Int) -> Int? {
            guard place >= 0, place <= exif.count - count else { return nil }
            let bytes = exif[place..<place + count]
            let highestFirst: [UInt8] = isLittleEndian ? bytes.reversed() : Array(bytes)
            return highestFirst.reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(at: 4, 4), let count = number(at: directory, 2) else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + index * Self.entrySize
            guard let tag = number(at: entry, 2) else { return nil }
            guard tag == Self.tag else { continue }
            guard number(at: entry + 2, 2) == Self.shortType, number(at: entry + 4, 4) == 1,
                let value = number(at: entry + 8, 2), (2...8).contains(value)
            else { return nil }
            self.value = UInt8(value)
            return
        }
        return nil
    }

    /// Metadata with this orientation alone.
    var exif: [UInt8] {
        [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
    }
}

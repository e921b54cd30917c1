extension String {
    /// The text without percent encoding (RFC 3986, 2.1); `nil` if it is malformed or not UTF-8.
    package var percentDecoded: String? { Self(percentDecoding: utf8) }

    /// Decodes the bytes of a percent-encoded text; `nil` if it is malformed or not UTF-8.
    init?(percentDecoding text: some Sequence<UInt8>) {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = Self.hexDigit(rest.next()), let low = Self.hexDigit(rest.next()) else { return nil }
            bytes.append(high << 4 | low)
        }
        self.init(validating: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(UnicodeScalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}

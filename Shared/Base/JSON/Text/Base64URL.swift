package import FoundationEssentials

extension Data {
    /// URL-safe Base64 without padding.
    package var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// - Returns: `nil` if the text is not URL-safe Base64, with or without padding.
    package init?(base64URL text: some StringProtocol) {
        let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
        guard digits.allSatisfy(\.isBase64URLDigit), text.utf8.count - digits.count <= 2 else { return nil }
        var base64 = String(decoding: digits, as: UTF8.self).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        self.init(base64Encoded: base64)
    }
}

extension UInt8 {
    fileprivate var isBase64URLDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

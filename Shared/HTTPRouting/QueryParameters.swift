package import Hummingbird

/// The parameters of a query by the rules of HTML forms (WHATWG URL, `application/x-www-form-urlencoded`), as clients write them: a
/// plus sign is a space, and names and values are percent-encoded UTF-8.
package struct QueryParameters: Sendable {
    package struct Parameter: Sendable {
        package let name: String
        /// `nil` if its percent encoding is malformed, or not that of UTF-8.
        package let value: String?
    }

    /// All parameters in their order; a name may be repeated.
    package let all: [Parameter]

    /// - Parameter query: The part of a URL between `?` and `#`.
    package init(_ query: String) {
        all = query.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return Parameter(
                name: Self.decoded(parts[0]) ?? String(decoding: parts[0], as: UTF8.self),
                value: parts.count > 1 ? Self.decoded(parts[1]) : "")
        }
    }

    /// The value of the first parameter with this name.
    package subscript(name: String) -> String? { all.first { $0.name == name }?.value }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        String(percentDecoding: text.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}

extension Request {
    /// The parameters of the query. Hummingbird's own leave plus signs as they are.
    package var queryParameters: QueryParameters { QueryParameters(uri.query ?? "") }
}

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

import JSON

/// The id of a W3C trace context's trace: 32 lower-case hexadecimal digits in JSON. It is the `X-Request-Id` of an HTTP request.
package struct TraceID: Hashable, Sendable {
    /// The 32 digits.
    package let description: String
}

extension TraceID: TextCodable {
    /// Reads 32 hexadecimal digits of either case, not all of them zero.
    package init?(_ description: String) {
        guard description.utf8.count == 32, description.utf8.allSatisfy({ $0.hexadecimalValue < 16 }),
            !description.utf8.allSatisfy({ $0 == UInt8(ascii: "0") })
        else { return nil }
        self.description = description.lowercased()
    }

    package static var expected: String { "32 hexadecimal digits (a trace id)" }
    package static var pattern: String { "^[0-9A-Fa-f]{32}$" }
    package static var example: String { "4bf92f3577b34da6a3ce929d0e0e4736" }
}

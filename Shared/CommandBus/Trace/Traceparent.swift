/// A W3C trace context, version 00: `00-<trace id>-<parent id>-<flags>` (https://www.w3.org/TR/trace-context/). Its trace id
/// is the request's id in every service's log.
package struct Traceparent: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits, not all of them zero.
    package let traceID: String
    /// 16 lower-case hexadecimal digits, not all of them zero.
    package let parentID: String
    /// Two hexadecimal digits.
    private let flags: String

    /// A new trace, or a new span of one.
    ///
    /// - Parameter traceID: The trace to continue. An invalid trace id starts a new trace.
    package init(continuing traceID: String? = nil) {
        self.traceID = traceID.flatMap { Self.isIdentifier($0[...], digits: 32) ? $0 : nil } ?? Self.random(digits: 32)
        parentID = Self.random(digits: 16)
        flags = "01"
    }

    private static func random(digits: Int) -> String {
        String(unsafeUninitializedCapacity: digits) { buffer in
            for start in stride(from: 0, to: digits, by: 16) {
                var bits = IdentifierBits.next()
                for position in start..<start + 16 {
                    buffer[position] = hexadecimal[Int(bits & 15)]
                    bits >>= 4
                }
            }
            return digits
        }
    }

    private static let hexadecimal = Array("0123456789abcdef".utf8)

    private static func isIdentifier(_ text: Substring, digits: Int) -> Bool {
        text.utf8.count == digits && text.allSatisfy { $0.isHexDigit && !$0.isUppercase } && !text.allSatisfy { $0 == "0" }
    }
}

extension Traceparent: LosslessStringConvertible {
    package var description: String { "00-\(traceID)-\(parentID)-\(flags)" }

    package init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "00", Self.isIdentifier(parts[1], digits: 32),
            Self.isIdentifier(parts[2], digits: 16), parts[3].utf8.count == 2, parts[3].allSatisfy(\.isHexDigit)
        else { return nil }
        traceID = String(parts[1])
        parentID = String(parts[2])
        flags = String(parts[3])
    }
}

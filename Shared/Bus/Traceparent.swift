package import ServiceContextModule
import Synchronization

/// A W3C trace context (https://www.w3.org/TR/trace-context/): `00-<trace id>-<parent id>-<flags>`. Its trace id is in every
/// service's log lines about a request, and about the later attempts to deliver its message.
package struct Traceparent: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits, not all of them zero.
    package let traceID: String
    /// The span: an HTTP request, or an attempt of the outbox. 16 lower-case hexadecimal digits, not all of them zero.
    package let parentID: String
    /// Whether the caller may have recorded the trace. It is only passed on.
    private let isSampled: Bool

    /// A new trace.
    package init() {
        traceID = Self.random(digits: 32)
        parentID = Self.random(digits: 16)
        isSampled = true
    }

    /// A new span of a trace.
    ///
    /// - Parameter parent: A span of the trace to continue; `nil` starts a new trace.
    package init(following parent: Traceparent?) {
        traceID = parent?.traceID ?? Self.random(digits: 32)
        parentID = Self.random(digits: 16)
        isSampled = parent?.isSampled ?? true
    }

    /// A new span of a trace.
    ///
    /// - Parameter traceID: The trace to continue.
    /// - Returns: `nil` for an invalid trace id.
    package init?(traceID: String) {
        guard Self.isIdentifier(traceID.utf8[...], digits: 32) else { return nil }
        self.traceID = traceID
        parentID = Self.random(digits: 16)
        isSampled = true
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

    private static func isHexadecimal(_ text: Substring.UTF8View, digits: Int) -> Bool {
        text.count == digits && text.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isIdentifier(_ text: Substring.UTF8View, digits: Int) -> Bool {
        isHexadecimal(text, digits: digits) && !text.allSatisfy { $0 == UInt8(ascii: "0") }
    }
}

extension Traceparent: LosslessStringConvertible {
    package var description: String { "00-\(traceID)-\(parentID)-\(isSampled ? "01" : "00")" }

    /// Reads a `traceparent` of this version or of a later one, which may have more fields behind the four known ones.
    package init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, Self.isHexadecimal(parts[0].utf8, digits: 2), parts[0] != "ff",
            parts.count == 4 || parts[0] != "00", Self.isIdentifier(parts[1].utf8, digits: 32),
            Self.isIdentifier(parts[2].utf8, digits: 16), Self.isHexadecimal(parts[3].utf8, digits: 2)
        else { return nil }
        traceID = String(parts[1])
        parentID = String(parts[2])
        // The other flags have no meaning yet, and are not passed on.
        isSampled = UInt8(parts[3], radix: 16).map { $0 & 1 == 1 } ?? false
    }
}

extension ServiceContext {
    /// The current task's trace. A client of the bus sends it with each request, and a server sets it for the request's handler.
    /// So it follows the work through all services.
    package var traceparent: Traceparent? {
        get { self[TraceparentKey.self] }
        set { self[TraceparentKey.self] = newValue }
    }

    private enum TraceparentKey: ServiceContextKey {
        typealias Value = Traceparent
        static let nameOverride: String? = "traceparent"
    }

    /// The current context with a change, for ``withValue(_:operation:)``.
    package static func current(changing change: (inout ServiceContext) -> Void) -> ServiceContext {
        var context = current ?? .topLevel
        change(&context)
        return context
    }
}

/// Bits for identifiers that must be unique and need not be secret. A request needs several of them, and each call of the system's
/// generator is a system call.
enum IdentifierBits {
    private static let state = Atomic<UInt64>(UInt64.random(in: .min ... .max))

    /// The next number of SplitMix64 from a random start; never 0.
    static func next() -> UInt64 {
        while true {
            var bits = state.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
            bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
            bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
            bits ^= bits >> 31
            if bits != 0 { return bits }
        }
    }
}

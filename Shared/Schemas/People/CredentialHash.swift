import JSON

/// The SHA-256 of a credential's secret: of the value of a sign-in's cookie, or of a bearer token. In JSON it is 64
/// lower-case hexadecimal digits. Stores and caches contain only hashes.
package struct CredentialHash: Hashable, Sendable {
    /// The 64 digits.
    package let description: String

    /// - Parameter digest: The 32 bytes of the SHA-256.
    package init(digest: some Sequence<UInt8>) {
        description = digest.hexadecimal
        precondition(description.utf8.count == 64, "a SHA-256 has 32 bytes")
    }
}

extension CredentialHash: TextCodable {
    package init?(_ description: String) {
        guard description.utf8.count == 64,
            description.utf8.allSatisfy({ $0.hexadecimalValue < 16 && !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) })
        else { return nil }
        self.description = description
    }

    package static var expected: String { "64 lower-case hexadecimal digits (a SHA-256)" }
    package static var pattern: String { "^[0-9a-f]{64}$" }
    package static var example: String { String(repeating: "0f", count: 32) }
}

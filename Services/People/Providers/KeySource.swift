import Base
import Crypto
import FoundationEssentials
import JWTKit
import Schemas

/// The keys with which a provider signs its ID tokens.
protocol KeySource: Sendable {
    /// The key with an identifier. Without an identifier, the only key.
    ///
    /// - Throws: ``IDTokenRefusal`` if the provider has no such key; ``CommandFailure`` with `unavailable` if they cannot be read.
    func key(_ identifier: String?) async throws -> JWK
}

/// The keys at an address, which are read on demand and kept for a while.
struct ProviderKeys: KeySource {
    /// The keys of the last reading are used for so long while they cannot be read again.
    private static let maxLifetime = Duration.seconds(24 * 3_600)

    private let times: ProviderTimes
    private let keys: SharedReading<[JWK]>

    /// - Parameter read: Reads them.
    init(_ times: ProviderTimes, _ read: @escaping @Sendable () async throws -> [JWK]) {
        self.times = times
        keys = SharedReading(failureLifetime: times.failureLifetime, read)
    }

    /// How long ago they were read; `nil` before the first time.
    var age: Duration? {
        get async { await keys.age }
    }

    func key(_ identifier: String?) async throws -> JWK {
        if identifier != nil,
            let key = Self.key(identifier, in: try await keys.value(maxAge: times.keyLifetime, orAtMost: Self.maxLifetime))
        {
            return key
        }
        // The provider may have begun to use a new key. The only key of a provider must have been read just now.
        guard let key = Self.key(identifier, in: try await keys.value(maxAge: times.minKeyAge)) else { throw IDTokenRefusal.key }
        return key
    }

    private static func key(_ identifier: String?, in keys: [JWK]) -> JWK? {
        guard let identifier else { return keys.count == 1 ? keys.first : nil }
        return keys.first { $0.keyIdentifier?.string == identifier }
    }
}

/// The key pairs of examples in RFCs, whose private keys everyone has. No provider may use one.
enum PublishedKeys {
    /// The thumbprints (RFC 7638) of the keys in RFC 7515 (appendices A.2 and A.3), 7517 (A.1, both), 7520 (RSA), 8037 and 9449.
    private static let thumbprints: Set = [
        "IsUn6_e04MaShXFIISMp4kG62LWzMIPy_MvSA5pJgX8", "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U",
        "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s",
        "9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI", "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
        "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I",
    ]

    static func contain(_ key: JWK) -> Bool {
        // The required members in the order of their names, without spaces.
        var members: JSONValue = ["kty": .string(key.keyType.rawValue)]
        members["crv"] = key.curve.map { .string($0.rawValue) }
        members["e"] = key.exponent.map { .string($0) }
        members["n"] = key.modulus.map { .string($0) }
        members["x"] = key.x.map { .string($0) }
        members["y"] = key.y.map { .string($0) }
        guard let json = try? JSONCoder.encode(members) else { return false }
        return thumbprints.contains(Data(SHA256.hash(data: json)).base64URL)
    }
}

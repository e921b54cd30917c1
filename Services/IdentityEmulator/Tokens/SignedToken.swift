import Base
import Crypto
import CryptoExtras
import FoundationEssentials

/// A JSON Web Token (RFC 7519) that is signed as its header says. A test may want one that no provider would make.
enum SignedToken {
    /// - Parameter header: `none` of any case leaves the signature empty. `HS256` signs with the text of the public key, which is the attack on
    ///   verifiers that let the token choose. With any other `alg` than `PS256` the signature is that of `RS256`.
    /// - Throws: An error of the cryptography.
    static func text(header: JSONValue, claims: JSONValue, by key: SigningKey) throws -> String {
        let signed = "\(header.data.base64URL).\(claims.data.base64URL)"
        let algorithm = header["alg"]?.string ?? ""
        let signature: Data
        if algorithm.lowercased() == "none" {
            signature = Data()
        } else if algorithm == "HS256" {
            let secret = SymmetricKey(data: Data(key.key.publicKey.pemRepresentation.utf8))
            signature = Data(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: secret))
        } else {
            signature = try key.key.signature(
                for: SHA256.hash(data: Data(signed.utf8)), padding: algorithm == "PS256" ? .PSS : .insecurePKCS1v1_5
            ).rawRepresentation
        }
        return "\(signed).\(signature.base64URL)"
    }

    /// The usual header.
    static func header(_ key: SigningKey) -> JSONValue { ["alg": "RS256", "kid": .string(key.id), "typ": "JWT"] }

    /// The header and the claims of a token that a key has signed by RS256; `nil` for any other text.
    static func parts(of token: String, signedBy key: SigningKey) -> (header: JSONValue, claims: JSONValue)? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Data(base64URL: parts[0]), let payload = Data(base64URL: parts[1]),
            let tail = Data(base64URL: parts[2]), let header = try? JSONValue(parsing: head),
            let claims = try? JSONValue(parsing: payload), header["alg"]?.string == "RS256", header["kid"]?.string == key.id,
            key.key.publicKey.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: tail),
                for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)), padding: .insecurePKCS1v1_5)
        else { return nil }
        return (header, claims)
    }
}

extension JSONValue {
    /// An object with the fields of another one in addition. A null removes a field.
    func changed(by changes: JSONValue) -> JSONValue {
        (changes.members ?? []).reduce(into: self) { changed, member in
            changed[member.name] = member.value == .null ? nil : member.value
        }
    }
}

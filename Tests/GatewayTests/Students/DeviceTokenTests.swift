import Base
import Crypto
import DeviceTokens
import FoundationEssentials
import Schemas
import Testing

@testable import Gateway

/// Attacks on the tokens of devices: those of RFC 7515, 7519 and 8725, and of the test vectors of Project Wycheproof.
@Suite("Tokens of devices")
struct DeviceTokenTests {
    private static let signer = TokenSigner()
    private static let header = #"{"alg":"ES256","kid":"k1","typ":"msi-device+jwt"}"#

    private var keys: [String: P256.Signing.PublicKey] { ["k1": Self.signer.key.publicKey] }

    private func refusal(of token: String) -> DeviceTokenRefusal? {
        do throws(DeviceTokenRefusal) {
            _ = try DeviceToken.claims(of: token, keys: keys)
            return nil
        } catch {
            return error
        }
    }

    /// A token whose signature is right for whatever it says.
    private func signed(_ header: String = header, _ payload: String? = nil) throws -> String {
        let claims = try payload.map { Data($0.utf8) } ?? JSONCoder.encode(DeviceTokenClaims.sample())
        return try Self.signer.token(header: header, payload: claims) {
            try Self.signer.key.signature(for: $0).rawRepresentation
        }.text
    }

    @Test("A token that the people service has signed tells its claims, also further ones that a later version adds")
    func valid() throws {
        let claims = DeviceTokenClaims(
            account: .sample("Ann"), device: ObjectID(), role: .unknown("tutor"), professor: true, issued: .now)
        #expect(try DeviceToken.claims(of: Self.signer.token(claims).text, keys: keys) == claims)
        let later =
            #"{"dev":"6b0187feff0dafac2833f431","exp":2000003600,"iat":2000000000,"new":[1],"role":"student","sub":"ann"}"#
        #expect(try DeviceToken.claims(of: signed(Self.header, later), keys: keys).sub == .sample("ann"))
    }

    @Test(
        "A token with another header is refused, even with a right signature",
        arguments: [
            (#"{"alg":"none","kid":"k1","typ":"msi-device+jwt"}"#, DeviceTokenRefusal.algorithm),
            (#"{"alg":"None","kid":"k1","typ":"msi-device+jwt"}"#, .algorithm),
            (#"{"alg":"es256","kid":"k1","typ":"msi-device+jwt"}"#, .algorithm),
            (#"{"alg":"ES384","kid":"k1","typ":"msi-device+jwt"}"#, .algorithm),
            (#"{"alg":"HS256","kid":"k1","typ":"msi-device+jwt"}"#, .algorithm),
            (#"{"alg":"RS256","kid":"k1","typ":"msi-device+jwt"}"#, .algorithm),
            (#"{"alg":"ES256","kid":"k1","typ":"JWT"}"#, .algorithm),
            (#"{"alg":"ES256","kid":"k1","typ":"application/msi-device+jwt"}"#, .algorithm),
            (#"{"alg":"ES256","kid":"k1"}"#, .form), (#"{"alg":"ES256","typ":"msi-device+jwt"}"#, .form),
            (#"{"kid":"k1","typ":"msi-device+jwt"}"#, .form), (#"{"alg":["ES256"],"kid":"k1","typ":"msi-device+jwt"}"#, .form),
            (#"{"alg":"ES256","alg":"none","kid":"k1","typ":"msi-device+jwt"}"#, .form),
            (#"{"alg":"ES256","crit":["exp"],"kid":"k1","typ":"msi-device+jwt"}"#, .form),
            (#"{"alg":"ES256","b64":false,"kid":"k1","typ":"msi-device+jwt"}"#, .form),
            (#"{"alg":"ES256","kid":"k1","typ":"msi-device+jwt","zip":"DEF"}"#, .form),
            (#"{"alg":"ES256","jku":"https://example.org/keys","kid":"k1","typ":"msi-device+jwt"}"#, .form),
            (#"{"alg":"ES256","jwk":{"kty":"EC"},"kid":"k1","typ":"msi-device+jwt"}"#, .form),
            (#"{"alg":"ES256","kid":"k1","typ":"msi-device+jwt","x5c":["MIIB"]}"#, .form),
            (#"{"alg":"ES256","kid":"k1","typ":"msi-device+jwt","x5u":"https://example.org/"}"#, .form),
            (#"{"alg":"ES256","kid":"k2","typ":"msi-device+jwt"}"#, .key),
            (#"{"alg":"ES256","kid":"","typ":"msi-device+jwt"}"#, .key),
            (#"{"alg":"ES256","kid":"../k1","typ":"msi-device+jwt"}"#, .key),
            (#"["ES256"]"#, .form), ("", .form), ("null", .form),
        ])
    func headers(header: String, expected: DeviceTokenRefusal) throws {
        #expect(refusal(of: try signed(header)) == expected)
    }

    @Test(
        "A token without the claims is refused, even with a right signature",
        arguments: [
            "", "[]", "null", "{}", "text", #"{"sub":"ann"}"#,
            #"{"dev":"x","exp":2000003600,"iat":2000000000,"role":"student","sub":"ann"}"#,
            #"{"dev":"6b0187feff0dafac2833f431","exp":"2000003600","iat":2000000000,"role":"student","sub":"ann"}"#,
            #"{"dev":"6b0187feff0dafac2833f431","exp":2000003600.5,"iat":2000000000,"role":"student","sub":"ann"}"#,
            #"{"dev":"6b0187feff0dafac2833f431","exp":1e400,"iat":2000000000,"role":"student","sub":"ann"}"#,
            #"{"dev":"6b0187feff0dafac2833f431","exp":2000003600,"iat":2000000000,"role":"student","sub":""}"#,
            #"{"dev":"6b0187feff0dafac2833f431","exp":2000003600,"iat":2000000000,"role":"student","sub":"ann","sub":"bob"}"#,
        ])
    func claims(payload: String) throws {
        #expect(refusal(of: try signed(Self.header, payload)) == .form)
    }

    @Test("A signature of another key, of other bytes, in another form, or of numbers that no signature has is refused")
    func signatures() throws {
        let payload = try JSONCoder.encode(DeviceTokenClaims.sample())
        func token(_ signature: (Data) throws -> Data) throws -> String {
            try Self.signer.token(header: Self.header, payload: payload, signature: signature).text
        }
        let order = Data([
            0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA,
            0xAD,
            0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ])
        let zero = Data(count: 32)
        let one = Data(count: 31) + [1]
        for numbers in [zero + zero, zero + one, one + zero, order + order, order + one, one + order, one + one] {
            #expect(refusal(of: try token { _ in numbers }) == .signature)
        }
        #expect(refusal(of: try token { try TokenSigner().key.signature(for: $0).rawRepresentation }) == .signature)
        #expect(refusal(of: try token { try Self.signer.key.signature(for: $0).derRepresentation }) == .signature)
        #expect(refusal(of: try token { try Self.signer.key.signature(for: $0 + [0]).rawRepresentation }) == .signature)
        #expect(refusal(of: try token { try Self.signer.key.signature(for: $0).rawRepresentation.dropLast() }) == .signature)
        #expect(refusal(of: try token { try Self.signer.key.signature(for: $0).rawRepresentation + [0] }) == .signature)
        // The algorithm confusion of RFC 8725, section 2.1: the public key as the secret of an HMAC.
        let secret = SymmetricKey(data: Self.signer.key.publicKey.x963Representation)
        let mixed = try token { Data(HMAC<SHA256>.authenticationCode(for: $0, using: secret)) }
        #expect(refusal(of: mixed) == .signature)
        let (first, second) = (try Self.signer.token("ann").text, try Self.signer.token("bob").text)
        let parts = (first.split(separator: "."), second.split(separator: "."))
        #expect(refusal(of: "\(parts.0[0]).\(parts.1[1]).\(parts.0[2])") == .signature)
    }

    @Test("Only the one text of a token is taken, so that no other one has the same meaning")
    func forms() throws {
        let token = try Self.signer.token().text
        let parts = token.split(separator: ".").map(String.init)
        #expect(refusal(of: token) == nil)
        // 64 bytes leave four bits of the last digit unused.
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let last = try #require(parts[2].last.flatMap { digits.firstIndex(of: $0) })
        let spare = parts[2].dropLast() + String(digits[last + 1])
        for other in [
            "", ".", "..", token + ".", "." + token, token + "." + parts[2], "\(parts[0]).\(parts[1])",
            "\(parts[0]).\(parts[1]).",
            "\(parts[0])..\(parts[2])", ".\(parts[1]).\(parts[2])", token + "=", "\(parts[0])=.\(parts[1]).\(parts[2])",
            token + "\n", " " + token, token + " ", "\(parts[0]).\(parts[1]).\(spare)", token.replacing(".", with: ":"),
            token + String(repeating: "A", count: 2_048), "\(parts[0]).\(parts[1]).\(parts[2])==", "ä.\(parts[1]).\(parts[2])",
        ] {
            #expect(refusal(of: other) == .form, "\(other)")
        }
        let standard = token.replacing("-", with: "+").replacing("_", with: "/")
        #expect(standard == token || refusal(of: standard) == .form)
    }

    @Test(
        "A token counts from its issue to its end, with a minute for clocks that differ; without the people service for twelve hours"
    )
    func times() throws {
        let issued = UnixMilliseconds(rawValue: 2_000_000_000_000)
        let claims = DeviceTokenClaims.sample(issued: issued)
        func refusal(after seconds: Int64, isOffline: Bool = false) -> DeviceTokenRefusal? {
            do throws(DeviceTokenRefusal) {
                try claims.check(at: issued + .seconds(seconds), isOffline: isOffline)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal(after: -61) == .early && refusal(after: -60) == nil && refusal(after: 3_659) == nil)
        #expect(refusal(after: 3_660) == .expired && refusal(after: 3_660, isOffline: true) == nil)
        #expect(refusal(after: 43_199, isOffline: true) == nil && refusal(after: 43_200, isOffline: true) == .expired)
        #expect(refusal(after: -61, isOffline: true) == .early)
    }

    @Test(
        "Claims with impossible times are refused",
        arguments: [(.min, .max), (.min, 0), (-1, .max), (.max, .min), (.max, .max), (.min, .min)] as [(Int64, Int64)])
    func impossibleTimes(issued: Int64, end: Int64) throws {
        let json = #"{"dev":"6b0187feff0dafac2833f431","exp":\#(end),"iat":\#(issued),"role":"student","sub":"ann"}"#
        let claims = try JSONCoder.decode(DeviceTokenClaims.self, from: Data(json.utf8))
        for isOffline in [false, true] {
            #expect(throws: DeviceTokenRefusal.early) { try claims.check(at: .now, isOffline: isOffline) }
        }
    }

    @Test("No text of a refusal contains anything of a token")
    func texts() {
        for refusal in DeviceTokenRefusal.allCases {
            #expect(refusal.text.hasSuffix(".") && !refusal.text.contains("eyJ"))
        }
    }

    @Test("A script's token is not taken for one of a device")
    func kinds() throws {
        let (token, others) = (try Self.signer.token(), Secret.newToken())
        #expect(DeviceToken.hasForm(token.text) && !DeviceToken.hasForm(others.text))
        #expect(PresentedCredential(.token, token).deviceToken == token)
        #expect(PresentedCredential(.cookie, token).deviceToken == nil && PresentedCredential(.token, others).deviceToken == nil)
    }
}

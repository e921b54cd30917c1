import Schemas
import Testing

@testable import People

@Suite("One-time codes")
struct TOTPTests {
    /// RFC 6238, appendix B, with SHA-1. The secret is the ASCII text `12345678901234567890`.
    @Test(
        "The codes are those of RFC 6238",
        arguments: [
            (59, "94287082"), (1_111_111_109, "07081804"), (1_111_111_111, "14050471"), (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"), (20_000_000_000, "65353130"),
        ] as [(Int64, String)])
    func vectors(seconds: Int64, code: String) throws {
        let totp = try #require(TOTP(secret: Secret(Base32.encode(Array("12345678901234567890".utf8)))))
        let step = TOTP.step(at: UnixMilliseconds(rawValue: seconds * 1_000))
        #expect(totp.code(step: step, digits: 8) == code)
        #expect(totp.code(step: step) == code.suffix(6))
    }

    @Test("A code is valid one step early or late, and once")
    func tolerance() throws {
        let totp = try #require(TOTP(secret: TOTP.makeSecret()))
        let now: UnixMilliseconds = 1_700_000_000_000
        let step = TOTP.step(at: now)
        for difference: Int64 in [-1, 0, 1] {
            let code = totp.code(step: step + difference)
            // Two steps may have the same code by chance.
            #expect(totp.step(of: code, at: now, after: nil).map { totp.code(step: $0) } == code)
            #expect(totp.step(of: code, at: now, after: step + difference) == nil || difference < 1)
        }
        let late = totp.code(step: step - 2)
        #expect(totp.step(of: late, at: now, after: nil).map { totp.code(step: $0) == late } ?? true)
        #expect(totp.step(of: totp.code(step: step + 1), at: now, after: step + 1) == nil)
        #expect(totp.step(of: "", at: now, after: nil) == nil)
        #expect(totp.step(of: "00000000", at: now, after: nil) == nil)
    }

    @Test(
        "Base32 is that of RFC 4648",
        arguments: [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("foobar", "MZXW6YTBOI")])
    func base32(text: String, encoded: String) {
        #expect(Base32.encode(Array(text.utf8)) == encoded)
        #expect(Base32.decode(encoded) == Array(text.utf8))
        #expect(Base32.decode("1") == nil)
    }

    @Test("A recovery code is accepted as it is shown, in lower case, and without hyphens")
    func recoveryCodes() {
        let codes = RecoveryCodes.make()
        #expect(Set(codes.map(RecoveryCodes.hash)).count == RecoveryCodes.count)
        for code in codes {
            #expect(code.text.count == 15)
            let typed = Secret(code.text.lowercased().filter { $0 != "-" })
            #expect(RecoveryCodes.hash(typed) == RecoveryCodes.hash(code))
            let wide = String(String.UnicodeScalarView(code.text.unicodeScalars.compactMap { Unicode.Scalar($0.value + 0xFEE0) }))
            #expect(RecoveryCodes.hash(Secret(wide)) == RecoveryCodes.hash(code))
        }
    }

    @Test(
        "Digits of other scripts are digits of a code",
        arguments: ["١٢٣ ٤٥٦", "۱۲۳۴۵۶", "１２３４５６", "123\u{A0}456", "१२३४५६", "\u{200E}123456"])
    func digits(code: String) {
        #expect(Secret(code).codeDigits == "123456")
    }
}

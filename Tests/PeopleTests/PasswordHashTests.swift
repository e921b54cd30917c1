import FoundationEssentials
import Base
import Schemas
import Testing

@testable import People

@Suite("Password hashes")
struct PasswordHashTests {
    private let cheap = PasswordHash.Parameters(cost: 1 << 4, blockSize: 8, parallelism: 1)

    @Test("A hash matches its password and no other, and contains neither")
    func matching() throws {
        let hash = try PasswordHash(of: Secret("correct horse"), parameters: cheap)
        #expect(try hash.matches(Secret("correct horse")))
        #expect(try !hash.matches(Secret("correct horsf")))
        #expect(try !hash.matches(Secret("")))
        #expect(try !PasswordHash.unknown(cheap).matches(Secret("correct horse")))
        #expect(try hash != PasswordHash(of: Secret("correct horse"), parameters: cheap))
        #expect(!"\(hash)".contains("correct"))
    }

    @Test("Composed and decomposed letters are the same password (RFC 8265)")
    func normalForms() throws {
        let (composed, decomposed) = (Secret("caf\u{E9} cr\u{E8}me"), Secret("cafe\u{301}\u{A0}cre\u{300}me"))
        for one in [composed, decomposed] {
            let hash = try PasswordHash(of: one, parameters: cheap)
            #expect(try hash.matches(composed) && hash.matches(decomposed) && !hash.matches(Secret("cafe creme")))
        }
    }

    /// RFC 7914, section 12: `scrypt("pleaseletmein", "SodiumChloride", 16384, 8, 1)`. Its first 32 bytes are those of a key of
    /// 32 bytes.
    @Test("The hash is that of RFC 7914, with the stored parameters")
    func vector() throws {
        let key: [UInt8] = [
            0x70, 0x23, 0xbd, 0xcb, 0x3a, 0xfd, 0x73, 0x48, 0x46, 0x1c, 0x06, 0xcd, 0x81, 0xfd, 0x38, 0xeb, 0xfd, 0xa8, 0xfb,
            0xba,
            0x90, 0x4f, 0x8e, 0x3e, 0xa9, 0xb5, 0x43, 0xf6, 0x54, 0x5d, 0xa1, 0xf2,
        ]
        let json = """
            {"scrypt":{"n":16384,"r":8,"p":1},"salt":"\(Data("SodiumChloride".utf8).base64EncodedString())",\
            "hash":"\(Data(key).base64EncodedString())"}
            """
        let hash = try JSONCoder.decode(PasswordHash.self, from: Data(json.utf8))
        #expect(try hash.matches(Secret("pleaseletmein")))
        #expect(try !hash.matches(Secret("pleaseletmeout")))
    }

    @Test("New passwords cost 32 MiB")
    func parameters() {
        let current = PasswordHash.Parameters.current
        #expect(128 * current.blockSize * current.cost == 32 << 20)
    }
}

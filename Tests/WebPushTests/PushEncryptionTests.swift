import Crypto
import FoundationEssentials
import Base
import Schemas
import Testing
import WebPushKeys

/// The encryption of pushes (RFC 8188 and 8291).
@Suite("Encryption of pushes")
struct PushEncryptionTests {
    @Test("RFC 8291's example has the bytes of the RFC")
    func example() throws {
        func data(_ text: String) throws -> Data { try #require(Data(base64URL: text)) }
        let keys = try BrowserKeys(
            p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            auth: Secret("BTBZMqHH6r4Tts7J_aSIgg"))
        let sender = try P256.KeyAgreement.PrivateKey(rawRepresentation: data("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
        let body = try PushEncryption.encrypt(
            Data("When I grow up, I want to be a watermelon".utf8), to: keys, from: sender, salt: data("DGv6ra1nlYgDCS1FRnbzlw"))
        #expect(
            body.base64URL
                == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w"
                + "EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
    }

    @Test("The browser reads what it gets, and no two pushes have the same bytes", arguments: [0, 1, 700, 3_993])
    func roundTrip(length: Int) throws {
        let browser = Browser()
        let text = Data((0..<length).map { UInt8(truncatingIfNeeded: $0) })
        let bodies = try (0..<3).map { _ in try PushEncryption.encrypt(text, to: browser.keys) }
        for body in bodies { #expect(try browser.read(body) == text) }
        #expect(Set(bodies).count == 3)
        // The header, the delimiter and the tag.
        #expect(bodies.allSatisfy { $0.count == length + 103 })
    }

    @Test("The longest text makes a body of 4,096 bytes")
    func longest() throws {
        #expect(PushEncryption.maxLength == 3_993)
        #expect(try PushEncryption.encrypt(Data(count: PushEncryption.maxLength), to: Browser().keys).count == 4_096)
    }

    @Test("PushKeys read what is encrypted for them, and nothing else", arguments: [0, 1, 3_993])
    func pushKeys(length: Int) throws {
        let keys = PushKeys()
        let text = Data(repeating: 7, count: length)
        let body = try PushEncryption.encrypt(text, to: BrowserKeys(p256dh: keys.p256dh, auth: keys.authSecret))
        #expect(try keys.read(body) == text)
        var damaged = body
        damaged[damaged.endIndex - 1] ^= 1
        for wrong in [damaged, Data(), Data(body.prefix(102)), Data(count: 4_096)] {
            #expect(throws: (any Error).self) { try keys.read(wrong) }
        }
        #expect(throws: (any Error).self) { try PushKeys().read(body) }
    }

    @Test("Another browser cannot read it")
    func otherBrowser() throws {
        let body = try PushEncryption.encrypt(Data("secret".utf8), to: Browser().keys)
        #expect(throws: (any Error).self) { try Browser().read(body) }
    }

    @Test("Base64 is read with and without padding, and only in its URL-safe form")
    func base64() {
        #expect(Data(base64URL: "_-8") == Data([0xFF, 0xEF]) && Data(base64URL: "_-8=") == Data([0xFF, 0xEF]))
        for text in ["/+8", "_-8 ", "_", "_-8===", "ä"] { #expect(Data(base64URL: text) == nil, "\(text)") }
    }
}

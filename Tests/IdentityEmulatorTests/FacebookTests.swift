import Base
import Crypto
import FoundationEssentials
import NIOHTTP1
import Schemas
import TestSupport
import Testing

@testable import IdentityEmulator

/// Facebook's Graph API, as a server uses it.
@Suite("Facebook of the identity emulator")
struct FacebookTests {
    private static let appToken = "1234567890%7Cemulated"

    private func debug(_ token: String, _ emulator: IdentityServer, as app: String = appToken) async throws -> HTTPAnswer {
        try await emulator.call(.GET, "/facebook/v25.0/debug_token?input_token=\(token)&access_token=\(app)")
    }

    private func me(
        _ token: String, _ emulator: IdentityServer, proof: String? = nil, fields: String = "id,first_name,last_name,email"
    ) async throws -> HTTPAnswer {
        let proof = proof ?? Self.proof(of: token)
        let path = "/facebook/v25.0/me?fields=\(fields)&access_token=\(token)"
        return try await emulator.call(.GET, path + (proof.isEmpty ? "" : "&appsecret_proof=\(proof)"))
    }

    private static func proof(of token: String) -> String {
        let key = SymmetricKey(data: Data("emulated".utf8))
        return HMAC<SHA256>.authenticationCode(for: Data(token.utf8), using: key).hexadecimal
    }

    @Test("A good token is described, and its person shown to who proves to have the app's secret")
    func good() async throws {
        try await withEmulator { emulator in
            let token = try await emulator.token(.facebook, of: dana).text
            let data = try await debug(token, emulator).json["data"]
            #expect(data?["app_id"] == "1234567890" && data?["type"] == "USER" && data?["is_valid"] == true)
            #expect(data?["user_id"]?.string == dana)
            #expect(try #require(data?["expires_at"]?.integer) > UnixMilliseconds.now.seconds)
            let person = try await me(token, emulator)
            #expect(person.status == 200)
            #expect(
                try person.json == [
                    "id": .string(dana), "first_name": "Dana", "last_name": "Diaz", "email": "dana@example.edu",
                ])
            let stranger = try await emulator.token(.facebook, of: "77").text
            #expect(try await me(stranger, emulator).json == ["id": "77"])
        }
    }

    @Test(
        "What is wrong with a token is in its description, with status 200",
        arguments: [
            (["expires_at": 1], "is_valid", false), (["app_id": "999"], "app_id", "999"), (["type": "PAGE"], "type", "PAGE"),
            (["is_valid": false], "is_valid", false), (["expires_at": 0], "is_valid", true),
        ] as [(JSONValue, String, JSONValue)])
    func described(claims: JSONValue, name: String, value: JSONValue) async throws {
        try await withEmulator { emulator in
            let token = try await emulator.token(.facebook, of: dana, [.init("claims", claims)]).text
            let answer = try await debug(token, emulator)
            let data = try answer.json["data"]
            #expect(answer.status == 200 && data?[name] == value)
            #expect((data?["error"]?["subcode"] == 463) == (claims["expires_at"] == 1))
            let isGood = claims["expires_at"] == 0 || claims["type"] != nil
            #expect(try await me(token, emulator).status == (isGood ? 200 : 400))
        }
    }

    @Test("A text that is no token, and a changed token, are error 190; a missing parameter is 100")
    func refused() async throws {
        try await withEmulator { emulator in
            let token = try await emulator.token(.facebook, of: dana).text
            for bad in ["abc", "EAA", String(token.dropLast(8)) + "AAAAAAAA"] {
                let data = try await debug(bad, emulator).json["data"]
                #expect(data?["is_valid"] == false && data?["error"]?["code"] == 190 && data?["user_id"] == nil)
            }
            func code(_ answer: HTTPAnswer) throws -> [JSONValue?] {
                let error = try answer.json["error"]
                #expect(answer.status == 400 && error?["type"] == "OAuthException" && error?["fbtrace_id"]?.string != nil)
                return [error?["code"], error?["error_subcode"]]
            }
            #expect(try code(try await debug("", emulator)) == [100, nil])
            #expect(try code(try await debug(token, emulator, as: "1234567890%7Cwrong")) == [190, nil])
            #expect(try code(try await me("abc", emulator)) == [190, nil])
            #expect(try code(try await me("", emulator)) == [2500, nil])
            #expect(try code(try await me(token, emulator, proof: "")) == [100, nil])
            #expect(try code(try await me(token, emulator, proof: String(repeating: "0", count: 64))) == [100, nil])
            #expect(try code(try await me(token, emulator, fields: "id,shoe_size")) == [100, nil])
            let old = try await emulator.token(.facebook, of: dana, [.init("claims", ["expires_at": 1])]).text
            #expect(try code(try await me(old, emulator)) == [190, 463])
        }
    }
}

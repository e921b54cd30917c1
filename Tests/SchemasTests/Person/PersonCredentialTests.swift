import Base
import FoundationEssentials
import Schemas
import Testing

/// The forms in which a person shows who they are.
@Suite("Credentials of persons")
struct PersonCredentialTests {
    private static func read(_ json: String) throws -> PersonCredential {
        try JSONCoder.decodeStrictly(from: Data(json.utf8))
    }

    @Test("Each provider has its own fields, and the device signs what is secret of them")
    func forms() throws {
        for provider in ["google", "firebase", "university"] {
            let credential = try Self.read(#"{"provider":"\#(provider)","id_token":"eyJ"}"#)
            #expect(credential.kind == .idToken(Secret("eyJ")) && credential.provenText == "eyJ")
        }
        let facebook = try Self.read(#"{"provider":"facebook","access_token":"EAA"}"#)
        #expect(facebook.kind == .accessToken(Secret("EAA")) && facebook.provenText == "EAA")
        let code = try Self.read(
            #"{"provider":"university","authorization_code":"c","flow":"f","state":"s","iss":"https://login.example"}"#)
        #expect(code.kind == .authorizationCode(Secret("c"), flow: Secret("f"), state: Secret("s")))
        #expect(code.provenText == "c" && code.issuer == "https://login.example")
        let password = try Self.read(#"{"provider":"password","account":"Ann","password":"secret","code":"123456"}"#)
        #expect(password.kind == .password(account: "Ann", Secret("secret")) && password.provenText == "ann")
    }

    @Test(
        "A missing field, and one of another provider, is named by the error",
        arguments: [
            (#"{"provider":"google"}"#, "id_token"), (#"{"provider":"firebase"}"#, "id_token"),
            (#"{"provider":"facebook"}"#, "access_token"), (#"{"provider":"university"}"#, "authorization_code"),
            (#"{"provider":"university","authorization_code":"c"}"#, "flow"),
            (#"{"provider":"university","authorization_code":"c","flow":"f"}"#, "state"),
            (#"{"provider":"password"}"#, "account"), (#"{"provider":"password","account":"ann"}"#, "password"),
            (#"{"provider":"google","id_token":"t","password":"p"}"#, "password"),
            (#"{"provider":"google","id_token":"t","access_token":"p"}"#, "access_token"),
            (#"{"provider":"facebook","access_token":"t","id_token":"p"}"#, "id_token"),
            (#"{"provider":"university","id_token":"t","flow":"f"}"#, "flow"),
            (#"{"provider":"password","account":"ann","password":"p","state":"s"}"#, "state"),
            (#"{"provider":"google","id_token":""}"#, "id_token"), (#"{"provider":"myspace"}"#, "provider"),
            (#"{"provider":"google","id_token":"t","colour":"red"}"#, "colour"),
        ])
    func wrong(json: String, field: String) {
        #expect(violation(of: PersonCredential.self, in: json)?.field == field)
    }

    @Test("The error for a token that is too long does not contain it, and nothing prints a secret")
    func secrets() throws {
        let token = String(repeating: "x", count: PersonLimits.providerToken.max + 1)
        let problem = violation(of: PersonCredential.self, in: #"{"provider":"google","id_token":"\#(token)"}"#)
        #expect(problem?.field == "id_token" && problem?.description.contains("xxx") == false)
        let credential = try Self.read(#"{"provider":"password","account":"ann","password":"a secret text"}"#)
        var text = ""
        dump(credential, to: &text)
        #expect(!"\(credential) \(text)".contains("a secret text"))
    }
}

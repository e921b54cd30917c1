import Base
import NIOHTTP1
import Schemas
import TestSupport
import Testing

@testable import IdentityEmulator

/// The pages at which people sign in, as a browser uses them.
@Suite("Pages of the identity emulator")
struct SignInPageTests {
    private static let app = "http://127.0.0.1:8080/app/"
    private static let back = "redirect_uri=http%3A%2F%2F127.0.0.1%3A8080%2Fapp%2F&state=st%26te"
    /// The pages of the providers with what the app asks them for.
    private static let pages = [
        "/google/o/oauth2/v2/auth?client_id=hub.apps.example&response_type=id_token&scope=openid+email+profile&nonce=n&\(back)",
        "/firebase/sign-in?\(back)",
        "/facebook/v25.0/dialog/oauth?client_id=1234567890&response_type=token&\(back)",
    ]

    @Test("A page lists the people, and everything on it has a label", arguments: pages)
    func content(page: String) async throws {
        try await withEmulator { emulator in
            try await emulator.put("x", ["name": "<b>&\"Bobby\"", "email": "b@example.edu"])
            let answer = try await emulator.call(.GET, page)
            #expect(answer.status == 200 && answer["Content-Type"] == "text/html; charset=utf-8")
            for person in EmulatedPerson.samples { #expect(answer.text.contains("value=\"\(person.sub)\">\(person.name)")) }
            #expect(answer.text.contains("gina@example.edu (not verified)"))
            #expect(answer.text.contains("&lt;b>&amp;&quot;Bobby&quot;, b@example.edu") && !answer.text.contains("<b>"))
            #expect(answer.text.contains("<html lang=\"en\">") && answer.text.contains("value=\"cancel\""))
            #expect(answer.text.matches(of: /<input/).count == answer.text.matches(of: /<label>/).count)
        }
    }

    @Test("Who is chosen comes back with a token in the fragment, with the state")
    func chosen() async throws {
        try await withEmulator { emulator in
            let google = try await emulator.submit("sub=\(dana)", at: emulator.url + Self.pages[0])
            #expect(google.hasPrefix(Self.app + "#"))
            #expect(google.fields(after: "#")["state"] == "st&te")
            let claims = try await emulator.claims(of: try #require(google.fields(after: "#")["id_token"]))
            #expect(claims["sub"]?.string == dana && claims["nonce"] == "n" && claims["email"] == "dana@example.edu")

            let firebase = try await emulator.submit("sub=\(dana)", at: emulator.url + Self.pages[1]).fields(after: "#")
            let token = try #require(firebase["id_token"])
            #expect(try await emulator.claims(of: token, keys: KeyPath.firebase)["user_id"]?.string == dana)
            #expect(firebase["state"] == "st&te")

            let facebook = try await emulator.submit("sub=\(dana)", at: emulator.url + Self.pages[2]).fields(after: "#")
            #expect(FacebookToken(try #require(facebook["access_token"]))?.data["user_id"]?.string == dana)
            #expect(facebook["expires_in"] == "7200" && facebook["state"] == "st&te")
        }
    }

    @Test("Who cancels comes back with an error, and so does a failure; Facebook says both in the query")
    func notSignedIn() async throws {
        try await withEmulator { emulator in
            for (page, mark) in zip(Self.pages, ["#", "#", "?"] as [Character]) {
                let cancelled = try await emulator.submit("action=cancel", at: emulator.url + page)
                #expect(cancelled.hasPrefix(Self.app + String(mark)), "\(cancelled)")
                #expect(cancelled.fields(after: mark)["error"] == "access_denied")
                #expect(cancelled.fields(after: mark)["state"] == "st&te")
                let failed = try await emulator.submit("action=fail", at: emulator.url + page).fields(after: mark)
                #expect(failed["error"] == "server_error" || failed["error_code"] == "2", "\(failed)")
                #expect(failed["state"] == "st&te" && failed["id_token"] == nil && failed["access_token"] == nil)
            }
        }
    }

    @Test("Somebody new is added, and can be chosen later")
    func added() async throws {
        try await withEmulator { emulator in
            let form = "action=add&given_name=Hana&family_name=Hill&email=hana%40example.edu"
            let address = try await emulator.submit(form, at: emulator.url + Self.pages[0])
            let claims = try await emulator.claims(of: try #require(address.fields(after: "#")["id_token"]))
            #expect(claims["given_name"] == "Hana" && claims["email_verified"] == false)
            let sub = try #require(claims["sub"]?.string)
            #expect(sub.count == 21)
            let row = "Hana Hill, hana@example.edu (not verified) (<code>\(sub)</code>)"
            #expect(try await emulator.call(.GET, "/").text.contains(row))
            #expect(try await emulator.submit("\(form)&email_verified=true", at: emulator.url + "/") == "/")
        }
    }

    @Test(
        "A request that the provider would not take is refused on its page, and leads nowhere",
        arguments: [
            "/google/o/oauth2/v2/auth?client_id=another&response_type=id_token&scope=openid&nonce=n&\(back)",
            "/google/o/oauth2/v2/auth?client_id=hub.apps.example&response_type=token&scope=openid&nonce=n&\(back)",
            "/google/o/oauth2/v2/auth?client_id=hub.apps.example&response_type=id_token&scope=email&nonce=n&\(back)",
            "/google/o/oauth2/v2/auth?client_id=hub.apps.example&response_type=id_token&scope=openid&\(back)",
            "/google/o/oauth2/v2/auth?client_id=hub.apps.example&response_type=id_token&scope=openid&nonce=n",
            "/firebase/sign-in", "/firebase/sign-in?redirect_uri=javascript:alert(1)", "/firebase/sign-in?redirect_uri=http:///",
            "/firebase/sign-in?redirect_uri=http://a%23b",
            "/facebook/v25.0/dialog/oauth?client_id=1&response_type=token&\(back)",
            "/facebook/v25.0/dialog/oauth?client_id=1234567890&response_type=code&\(back)",
        ])
    func refused(page: String) async throws {
        try await withEmulator { emulator in
            for method in [HTTPMethod.GET, .POST] {
                let answer = try await emulator.call(method, page)
                #expect(answer.status == 400 && answer["Location"] == nil)
                #expect(try answer.json["error"]?.string?.contains(": ") == true, "\(answer)")
            }
        }
    }

    @Test("A form that no page has is refused", arguments: ["", "action=add&given_name=A", "action=other", "sub=a%20b"])
    func wrongForm(form: String) async throws {
        try await withEmulator { emulator in
            await #expect(throws: UnexpectedAnswer.self) { try await emulator.submit(form, at: emulator.url + Self.pages[1]) }
            await #expect(throws: UnexpectedAnswer.self) { try await emulator.submit("sub=\(dana)", at: emulator.url + "/") }
        }
    }
}

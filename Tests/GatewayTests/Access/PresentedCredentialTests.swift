import HTTPTypes
import Hummingbird
import NIOCore
import Schemas
import Testing

@testable import Gateway

/// The credential of a request.
@Suite("Presented credentials")
struct PresentedCredentialTests {
    private func request(_ authority: String, cookie: String = "") -> Request {
        let head = HTTPRequest(
            method: .get, scheme: "http", authority: authority, path: "/session", headerFields: [.cookie: cookie])
        return Request(head: head, body: .init(buffer: ByteBuffer()))
    }

    @Test(
        "A cookie's name is one that neighbouring hosts cannot set, or that hubs at other ports do not have",
        arguments: [
            ("127.0.0.1:8080", false, "msi_session_8080", "msi_oidc_8080"), ("[::1]:80", false, "msi_session_80", "msi_oidc_80"),
            ("localhost", false, "msi_session", "msi_oidc"),
            ("hub.example.edu:8443", true, "__Host-msi_session", "__Host-msi_oidc"),
        ])
    func names(authority: String, isSecure: Bool, session: String, flow: String) throws {
        for (cookie, name) in [(GatewayCookie.session, session), (.flow, flow)] {
            let set = cookie.set(Secret("value"), for: request(authority), isSecure: isSecure)
            #expect(set.hasPrefix("\(name)=value;") && set.contains("Secure") == isSecure)
            #expect(set.contains("Path=/") && !set.contains("Domain"))
            #expect(cookie.set(nil, for: request(authority), isSecure: isSecure).hasPrefix("\(name)=;"))
        }
        let own = request(authority, cookie: "\(session)=value")
        #expect(try PresentedCredential(of: own, isSecure: isSecure) == PresentedCredential(.cookie, Secret("value")))
        #expect(try PresentedCredential(of: own, isSecure: !isSecure) == nil)
        let other = request("127.0.0.1:9999", cookie: "\(session)=value")
        #expect(try PresentedCredential(of: other, isSecure: false) == nil)
    }

    @Test("A bearer token is the second of two words, and any other form is refused")
    func bearer() throws {
        func credential(_ authorization: String) throws -> PresentedCredential? {
            let head = HTTPRequest(
                method: .get, scheme: "http", authority: "localhost", path: "/", headerFields: [.authorization: authorization])
            return try PresentedCredential(of: Request(head: head, body: .init(buffer: ByteBuffer())), isSecure: false)
        }
        let expected = PresentedCredential(.token, Secret("abc"))
        #expect(expected.hash.description == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        for text in ["Bearer abc", "bearer abc", "BEARER  abc"] { #expect(try credential(text) == expected) }
        for text in ["Bearer", "Bearer ", "abc", "Basic abc", "Bearer abc def", "Bearerabc"] {
            #expect(throws: Problem.self, "\(text)") { try credential(text) }
        }
    }
}

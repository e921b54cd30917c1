import HTTPTypes
import Hummingbird
import NIOCore
import Schemas
import Testing

@testable import Gateway

/// The credential of a request.
@Suite("Presented credentials")
struct PresentedCredentialTests {
    private func credential(_ cookie: String, isSecure: Bool) throws -> PresentedCredential? {
        let head = HTTPRequest(
            method: .get, scheme: isSecure ? "https" : "http", authority: "hub.example.edu", path: "/session",
            headerFields: [.cookie: cookie])
        return try PresentedCredential(of: Request(head: head, body: .init(buffer: ByteBuffer())), isSecure: isSecure)
    }

    @Test("Over TLS the cookie has a name that pages of neighbouring hosts cannot set, and no other counts")
    func names() throws {
        for isSecure in [false, true] {
            let cookie = SessionCookie.begun(Secret("value"), isSecure: isSecure)
            let name = isSecure ? "__Host-msi_session" : "msi_session"
            #expect(cookie.hasPrefix("\(name)=value;") && cookie.contains("Secure") == isSecure)
            #expect(cookie.contains("Path=/") && !cookie.contains("Domain"))
            #expect(try credential("\(name)=value", isSecure: isSecure) == PresentedCredential(.cookie, Secret("value")))
            #expect(try credential("\(name)=value", isSecure: !isSecure) == nil)
            #expect(SessionCookie.ended(isSecure: isSecure).hasPrefix("\(name)=;"))
        }
    }
}

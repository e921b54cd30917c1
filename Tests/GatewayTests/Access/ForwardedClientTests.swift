import HTTPTypes
import ServiceKit
import Testing

@testable import Gateway

@Suite("The client behind trusted proxies")
struct ForwardedClientTests {
    private func client(_ fields: (HTTPField.Name, String)...) throws -> ForwardedClient {
        var all = HTTPFields()
        for (name, value) in fields { all.append(HTTPField(name: name, value: value)) }
        let proxies = [IPNetwork("10.0.0.0/8"), IPNetwork("2001:db8:ffff::/48")].compactMap(\.self)
        return try ForwardedClient(all) { address in proxies.contains { $0.contains(address) } }
    }

    @Test(
        "The client is the last address that is no trusted proxy, whatever the client wrote before it",
        arguments: [
            ("203.0.113.9", "203.0.113.9"), ("1.1.1.1, 203.0.113.9", "203.0.113.9"),
            ("1.1.1.1,203.0.113.9 , 10.0.0.7", "203.0.113.9"), ("127.0.0.1, 203.0.113.9", "203.0.113.9"),
            ("203.0.113.9:4711", "203.0.113.9"), ("[2001:db8::9]:4711", "2001:db8::9"), ("2001:db8::9", "2001:db8::9"),
            ("10.0.0.8, 10.0.0.7", "10.0.0.8"), ("unknown, 10.0.0.7", "10.0.0.7"), ("<script>, 203.0.113.9", "203.0.113.9"),
            ("", nil), ("unknown", nil), (",,", nil), ("127.0.0.1", nil), ("::1", nil), ("203.0.113.9, 127.0.0.1", nil),
            ("127.0.0.1, 10.0.0.7", "10.0.0.7"),
        ])
    func forwardedFor(field: String, expected: String?) throws {
        #expect(try client((.xForwardedFor, field)).address?.description == expected)
    }

    @Test("Several fields of one name are one list")
    func severalFields() throws {
        let client = try client((.xForwardedFor, "1.1.1.1"), (.xForwardedFor, "203.0.113.9, 10.0.0.1"))
        #expect(client.address?.description == "203.0.113.9")
    }

    @Test("The scheme is that of the last proxy")
    func scheme() throws {
        #expect(try client((.xForwardedProto, "https")).isSecure == true)
        #expect(try client((.xForwardedProto, "https, HTTP")).isSecure == false)
        #expect(try client((.xForwardedFor, "1.1.1.1")).isSecure == nil)
    }

    @Test(
        "RFC 7239 is read with its quotes, ports and hidden addresses",
        arguments: [
            ("for=192.0.2.60;proto=https;by=203.0.113.43", "192.0.2.60", true),
            ("For=\"[2001:db8:cafe::17]:4711\"; Proto=HTTP", "2001:db8:cafe::17", false),
            ("for=1.1.1.1, for=192.0.2.60;proto=https, for=10.0.0.3;proto=http", "192.0.2.60", true),
            ("for=_hidden, for=10.0.0.3", "10.0.0.3", nil), ("for=unknown;proto=https", nil, true),
            ("for=\"1.1.1.1, for=2.2.2.2\"", nil, nil), ("by=10.0.0.1", nil, nil),
        ])
    func forwarded(field: String, expected: String?, isSecure: Bool?) throws {
        let client = try client((.forwarded, field))
        #expect(client.address?.description == expected && client.isSecure == isSecure, "\(client)")
    }

    @Test("Both forms count only if they agree: the proxy writes one, and may pass on the other one from the client")
    func contradiction() throws {
        let agreed = try client(
            (.xForwardedFor, "203.0.113.9"), (.forwarded, "for=203.0.113.9"), (.xForwardedProto, "https"))
        #expect(agreed.address?.description == "203.0.113.9" && agreed.isSecure == true)
        #expect(throws: Problem.self) {
            try client((.xForwardedFor, "203.0.113.9"), (.forwarded, "for=127.0.0.1;proto=https"))
        }
        #expect(throws: Problem.self) {
            try client((.xForwardedFor, "1.1.1.1"), (.xForwardedProto, "http"), (.forwarded, "for=1.1.1.1;proto=https"))
        }
    }
}

import HTTPTypes
import NIOCore
import ServiceKit
import Testing

@testable import Gateway

@Suite("Limits of an address")
struct AddressLimitTests {
    @Test("An IPv6 network counts as one client, and the answer says when to come back")
    func networks() throws {
        let limit = AddressLimit(perMinute: 2, "too many")
        let start = NIODeadline.now()
        func count(_ address: String) throws { try limit.count(IPAddress(address), at: start) }
        try count("2001:db8::1")
        try count("2001:db8::2")
        let problem = try #require(throws: Problem.self) { try count("2001:db8::3") }
        #expect(problem.kind == .tooManyRequests && problem.headers[.retryAfter] == "30")
        try count("2001:db8:0:1::1")
        try limit.count(IPAddress("2001:db8::3"), at: start + .seconds(30))
    }
}

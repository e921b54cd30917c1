import Dispatch
import TestSupport
import Testing

@testable import Bus

/// Which host names a bus without keys refuses.
@Suite("Names of hosts", .timeLimit(.minutes(10)))
struct NameLookupTests {
    @Test(
        "A name with an address of another machine is refused, and one without an address is not",
        arguments: [
            (["127.0.0.1", "192.168.1.9"], true), (["::1", "127.0.0.1"], false), ([], false),
        ])
    func addresses(_ addresses: [String], isRefused: Bool) async throws {
        let refusal = await NameLookup.refusalWithoutKeys(of: "hub", within: .seconds(20)) { name in
            addresses.isEmpty ? .failure(.lookup("\(name) has no address")) : .success(addresses)
        }
        #expect((refusal != nil) == isRefused, "\(refusal ?? "")")
        if isRefused { #expect(refusal?.contains("hub has the address 192.168.1.9") == true) }
    }

    @Test("A resolver that does not answer is a finding after the timeout")
    func silent() async throws {
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let finding = await NameLookup.refusalWithoutKeys(of: "hub", within: .milliseconds(50)) { _ in
            end.wait()
            return .success(["127.0.0.1"])
        }
        #expect(finding == "hub cannot be looked up: the system's resolver has not answered for 0.05 seconds")
    }
}

import Testing

@testable import ServiceKit

@Suite("IP addresses and networks")
struct IPAddressTests {
    @Test(
        "An address is read and written in its usual form",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("2001:DB8:0:0::1", "2001:db8::1"), ("::1", "::1"), ("::ffff:10.0.0.1", "10.0.0.1"),
            ("0.0.0.0", "0.0.0.0"), ("::", "::"),
        ])
    func forms(text: String, form: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == form)
        #expect(address == IPAddress(form))
    }

    @Test(
        "Everything else is not an address",
        arguments: ["", "localhost", "1.2.3", "1.2.3.4:80", "[::1]", "fe80::1%eth0", "1.2.3.4 ", "256.0.0.1", "::g"])
    func refused(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("An address knows whether it is loopback or a wildcard, and how a URL writes it")
    func kinds() throws {
        let loopback = ["127.0.0.1", "127.255.0.3", "::1", "::ffff:127.0.0.1"].compactMap { IPAddress($0) }
        #expect(loopback.count == 4 && loopback.allSatisfy(\.isLoopback))
        let others = ["128.0.0.1", "126.0.0.1", "::2", "0.0.0.0", "::"].compactMap { IPAddress($0) }
        #expect(others.count == 5 && !others.contains(where: \.isLoopback))
        #expect(others.map(\.isWildcard) == [false, false, false, true, true])
        #expect(try #require(IPAddress("::2")).host == "[::2]" && loopback[0].host == "127.0.0.1")
    }

    @Test(
        "An address that strangers must not lead the hub to is not public",
        arguments: [
            ("0.0.0.0", false), ("10.1.2.3", false), ("100.64.0.1", false), ("127.0.0.1", false), ("169.254.169.254", false),
            ("172.31.0.1", false), ("192.168.1.1", false), ("224.0.0.1", false), ("255.255.255.255", false), ("8.8.8.8", true),
            ("172.32.0.1", true), ("::", false), ("::1", false), ("fe80::1", false), ("fd00::1", false), ("ff02::1", false),
            ("::ffff:10.0.0.1", false), ("64:ff9b::10.0.0.1", false), ("2002:a00:1::", false), ("64:ff9b::8.8.8.8", true),
            ("64:ff9b:1::8.8.8.8", false),
            ("2a00:1450:4001:80b::200a", true),
        ])
    func isPublic(text: String, isPublic: Bool) throws {
        #expect(try #require(IPAddress(text)).isPublic == isPublic)
    }

    @Test("One customer has a whole /64 network of IPv6, and one address of IPv4")
    func customer() throws {
        let addresses = ["2001:db8:1:2::3", "2001:db8:1:2:ffff::", "2001:db8:1:3::3", "192.0.2.1", "192.0.2.2"]
        let customers = try addresses.map { try #require(IPAddress($0)).customer }
        #expect(customers[0] == customers[1] && Set(customers).count == 4)
        #expect(customers[3].description == "192.0.2.1")
    }

    @Test(
        "A network contains the addresses with its prefix",
        arguments: [
            ("10.0.0.0/8", ["10.255.1.1", "::ffff:10.1.1.1"], ["11.0.0.0", "::1"]), ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6"]),
            ("0.0.0.0/0", ["1.1.1.1"], ["2001:db8::1"]), ("2001:db8::/32", ["2001:db8:9::"], ["2001:db9::"]),
            ("::/0", ["::1", "1.1.1.1"], []), ("::1/128", ["::1"], ["::2"]),
        ])
    func networks(text: String, inside: [String], outside: [String]) throws {
        let network = try #require(IPNetwork(text))
        for address in inside { #expect(network.contains(try #require(IPAddress(address))), "\(address)") }
        for address in outside { #expect(!network.contains(try #require(IPAddress(address))), "\(address)") }
    }

    @Test(
        "Everything else is not a network",
        arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "host/8"])
    func noNetwork(text: String) {
        #expect(IPNetwork(text) == nil)
    }
}

import CZeroMQ
import Bus
import FoundationEssentials
import Schemas
import Testing
import TestSupport

#if canImport(Glibc)
    import Glibc
#endif

@Suite("Bus endpoints", .timeLimit(.minutes(10)))
struct EndpointTests {
    @Test(
        "A text that is not an endpoint is refused",
        arguments: [
            "", "ipc://", "ipc://@abstract", "ipc://*", "tcp://", "tcp://localhost", "tcp://:5", "tcp://127.0.0.1:99999",
            "tcp://127.0.0.1:-1", "http://127.0.0.1:80", "inproc://x", "/tmp/x.sock",
            "ipc:///tmp/" + String(repeating: "x", count: 104), "tcp://0.0.0.0:7000", "tcp://*:7000", "tcp://10.1.2.3:7000",
            "tcp://[::]:7000", "tcp://[2001:db8::1]:7000", "tcp://eth 0:7000", "tcp://127.0.0.1;127.0.0.1:7000",
        ])
    func whatIsNoEndpointIsRefused(text: String) async throws {
        try await withBus { bus in
            let server = refusal(to: text, of: bus)
            #expect(server?.code == .invalidEndpoint)
            let client = #expect(throws: BusError.self) {
                try CommandClient(bus: bus, endpoints: ["tcp://127.0.0.1:9", text], logger: quietLogger)
            }
            #expect(client?.code == .invalidEndpoint)
        }
    }

    @Test(
        "A pattern has one *, in the file name of a path; only clients have patterns",
        arguments: [
            "ipc:///tmp/relay*.sock": true, "ipc://run/*": true, "ipc:///*.sock": true, "ipc:///tmp/*/relay.sock": false,
            "ipc:///tmp/*/relay*.sock": false, "ipc:///tmp/relay**.sock": false, "ipc://relay*.sock": false,
            "ipc://@relay/*": false, "tcp://127.0.0.1*:7000": false,
            "ipc:///tmp/*" + String(repeating: "x", count: 101): true, "ipc:///tmp/*" + String(repeating: "x", count: 102): false,
        ])
    func patterns(text: String, isPattern: Bool) async throws {
        try await withBus { bus in
            let server = refusal(to: text, of: bus)
            #expect(server?.code == .invalidEndpoint)
            do {
                _ = try CommandClient(bus: bus, endpoints: [text], logger: quietLogger)
                #expect(isPattern)
            } catch let error as BusError {
                #expect(!isPattern && error.code == .invalidEndpoint)
            }
        }
    }

    @Test(
        "A path that is too long, and a host name, are errors that say so",
        arguments: [
            ("ipc:///tmp/" + String(repeating: "x", count: 103), ["108 bytes", "107"]),
            ("tcp://example.edu:7000", ["found a name"]),
        ])
    func aServerSaysWhyItCannotListen(endpoint: String, reasons: [String]) async throws {
        try await withBus { bus in
            let error = refusal(to: endpoint, of: bus)
            #expect(error?.code == .invalidEndpoint)
            for reason in reasons { #expect(error?.message.contains(reason) == true, "\(error as Any)") }
        }
    }

    /// Also at the IPv6 loopback address, if the machine has IPv6.
    static let otherLoopbackEndpoints: [String] =
        ["tcp://localhost:0", "tcp://127.8.8.8:*"]
        + (FileManager.default.contents(atPath: "/proc/net/if_inet6")?.isEmpty == false ? ["tcp://[::1]:0"] : [])

    @Test("A server can listen at every kind of loopback endpoint", arguments: otherLoopbackEndpoints)
    func isServed(endpoint: String) async throws {
        try await withServerAndClient(at: endpoint) { _, client in
            let echo = try await client.request(Echo(text: "here"))
            #expect(echo.text == "here")
        }
    }

    @Test("A client can connect to localhost by name")
    func aClientLooksUpLocalhost() async throws {
        try await withBus { bus in
            try await withServer(bus, at: "tcp://127.0.0.1:0") { server in
                let endpoint = server.endpoint.replacing("127.0.0.1", with: "localhost")
                let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
                let echo = try await client.request(Echo(text: "here"))
                #expect(echo.text == "here")
            }
        }
    }

    @Test("A second server at the same endpoint is refused", arguments: ["ipc", "tcp"])
    func theSecondToBindIsRefused(transport: String) async throws {
        try await withTemporaryFolder { folder in
            let endpoint = transport == "ipc" ? "ipc://\(folder)/one.sock" : "tcp://127.0.0.1:0"
            try await withServerAndClient(at: endpoint) { server, client in
                try await withBus { bus in
                    let error = refusal(to: server.endpoint, of: bus)
                    #expect(error?.code == .addressInUse)
                    #expect(error?.message.contains(server.endpoint) == true)
                }
                let echo = try await client.request(Echo(text: "mine"))
                #expect(echo.text == "mine")
            }
        }
    }

    @Test(
        "The group may use a socket if its folder is for the owner and the group alone",
        arguments: [(0o750, 0o660), (0o770, 0o660), (0o755, 0o600), (0o700, 0o600), (0o740, 0o600)] as [(mode_t, mode_t)])
    func theFolderDecidesAboutTheGroup(folderMode: mode_t, socketMode: mode_t) async throws {
        try await withTemporaryFolder { folder in
            #expect(mkdir("\(folder)/run", 0o700) == 0 && chmod("\(folder)/run", folderMode) == 0)
            try await withServerAndClient(at: "ipc://\(folder)/run/group.sock") { _, _ in
                #expect(mode("\(folder)/run/group.sock") == socketMode)
                #expect(mode("\(folder)/run/group.sock.lock") == 0o600)
            }
        }
    }

    @Test("Without a group, only its owner can use the socket file")
    func theSocketIsForItsUserAlone() async throws {
        try await withTemporaryFolder { folder in
            try await withServerAndClient(at: "ipc://\(folder)/run/private.sock") { _, _ in
                #expect(mode("\(folder)/run") == 0o700)
                #expect(mode("\(folder)/run/private.sock") == 0o600)
                #expect(mode("\(folder)/run/private.sock.lock") == 0o600)
            }
            #expect(mode("\(folder)/run/private.sock") == nil)
        }
    }

    @Test("A socket file that a killed service has left is replaced")
    func aStaleSocketIsReplaced() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/stale.sock"
            let dead = try UnixSocket(listeningAt: path)
            try await withBus { bus in
                let inUse = refusal(to: "ipc://\(path)", of: bus)
                #expect(inUse?.code == .addressInUse)
            }
            // As after SIGKILL: the file exists without a listener.
            dead.close()
            #expect(mode(path) != nil)
            try await withServerAndClient(at: "ipc://\(path)") { _, client in
                let echo = try await client.request(Echo(text: "again"))
                #expect(echo.text == "again")
            }
        }
    }

    @Test("A file that is not a socket is not replaced")
    func aFileIsNotReplaced() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/precious"
            try Data("precious".utf8).write(to: URL(filePath: path))
            try await withBus { bus in
                let error = refusal(to: "ipc://\(path)", of: bus)
                #expect(error?.message.contains("not a socket") == true)
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("precious".utf8))
        }
    }

    /// Why a server cannot listen at an endpoint.
    private func refusal(to endpoint: String, of bus: Bus) -> BusError? {
        #expect(throws: BusError.self) {
            try CommandServer(bus: bus, endpoint: endpoint, router: .init(), logger: quietLogger)
        }
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
}

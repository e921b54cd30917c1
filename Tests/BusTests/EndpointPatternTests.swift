import FoundationEssentials
import TestSupport
import Testing

@testable import Bus

#if canImport(Glibc)
    import Glibc
#endif

@Suite("Patterns of endpoints")
struct EndpointPatternTests {
    private func pattern(_ path: String) throws -> EndpointPattern {
        try EndpointPattern(path: path, of: "ipc://\(path)")
    }

    @Test("A * stands for any characters of a file name, and for none")
    func names() throws {
        let pattern = try pattern("/run/msi/relay@*.sock")
        for name in ["relay@1.sock", "relay@.sock", "relay@north-2.sock"] { #expect(pattern.matches(name), "\(name)") }
        for name in ["relay.sock", "relay@1.sock.lock", "a-relay@1.sock", "relay@1", "relay@.soc"] {
            #expect(!pattern.matches(name), "\(name)")
        }
        let all = try self.pattern("/run/msi/*")
        #expect(all.matches("a") && !all.matches(".a"))
    }

    @Test("An endpoint belongs to a client's settings if it is one of them, or a pattern stands for it, also without a socket")
    func included() throws {
        let endpoints = try ClientEndpoints(["ipc:///run/msi/relay@*.sock", "tcp://127.0.0.1:7101"])
        for endpoint in ["ipc:///run/msi/relay@1.sock", "tcp://127.0.0.1:7101"] { #expect(endpoints.include(endpoint)) }
        for endpoint in [
            "ipc:///run/msi/cube.sock", "ipc:///run/relay@1.sock", "ipc:///run/msi/relay@a/b.sock", "tcp://127.0.0.1:7102",
        ] { #expect(!endpoints.include(endpoint), "\(endpoint)") }
    }

    @Test("Only sockets are found: no other files, no symbolic links, none with too long a path")
    func scan() async throws {
        try await withTemporaryFolder { folder in
            let pattern = try pattern("\(folder)/run/relay@*")
            // The folder does not exist yet.
            #expect(try pattern.scan() == [])
            try FileManager.default.createDirectory(atPath: "\(folder)/run", withIntermediateDirectories: false)
            #expect(try pattern.scan() == [])
            let sockets = try ["relay@2", "relay@1", "cube"].map { try UnixSocket(listeningAt: "\(folder)/run/\($0)") }
            defer { for socket in sockets { socket.close() } }
            try Data().write(to: URL(filePath: "\(folder)/run/relay@1.lock"))
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/run/relay@3", withDestinationPath: "\(folder)/run/relay@1")
            let long = "relay@" + String(repeating: "x", count: 100)
            try FileManager.default.moveItem(atPath: "\(folder)/run/cube", toPath: "\(folder)/run/\(long)")
            #expect(try pattern.scan() == ["ipc://\(folder)/run/relay@1", "ipc://\(folder)/run/relay@2"])
        }
    }

    @Test("A folder that cannot be read is a failure, and not an absence of instances")
    func unreadable() throws {
        // A name of more than 255 characters cannot exist.
        let pattern = try? pattern("/" + String(repeating: "x", count: 90) + "/*")
        #expect(try pattern?.scan() == [])
        try withLoopingLink { folder in
            #expect(throws: EndpointPattern.ScanFailure.self) { try self.pattern("\(folder)/*").scan() }
        }
    }

    /// Runs a body with a symbolic link to itself, which even root cannot read.
    private func withLoopingLink(_ body: (String) throws -> Void) throws {
        let path = "/tmp/loop-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        defer { unlink(path) }
        try body(path)
    }

    @Test("With too many instances, those that are in use stay in use")
    func limit() {
        var found = FoundEndpoints()
        found.update(["b", "c", "d"], limit: 2)
        #expect(found.endpoints == ["b", "c"] && found.isFull)
        found.update(["a", "b", "c"], limit: 2)
        #expect(found.endpoints == ["b", "c"] && found.isFull)
        found.update(["a", "c"], limit: 2)
        #expect(found.endpoints == ["a", "c"] && !found.isFull)
    }

    @Test("Patterns and fixed endpoints can be mixed, and each endpoint counts once")
    func mixed() throws {
        let endpoints = try ClientEndpoints(["ipc:///r/a@1", "ipc:///r/a@*", "tcp://127.0.0.1:7000", "ipc:///r/*"])
        #expect(endpoints.fixed == ["ipc:///r/a@1", "tcp://127.0.0.1:7000"] && endpoints.patterns.count == 2)
        let found = endpoints.instances { _ in ["ipc:///r/a@1", "ipc:///r/a@2"] }
        #expect(found == ["ipc:///r/a@2"])
        #expect(endpoints.current == endpoints.fixed + ["ipc:///r/a@*", "ipc:///r/*"])
    }
}

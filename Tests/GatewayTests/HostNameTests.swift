import ServiceKit
import TestSupport
import Testing

/// Endpoints of the bus with host names, in the gateway as a process.
@Suite("Gateway and host names", .timeLimit(.minutes(10)))
struct HostNameTests {
    @Test("A host name that cannot be resolved does not harm other endpoints")
    func hangingName() async throws {
        try await withNames(["log.test": nil]) { settings, folder in
            let settings = settings.merging(
                ["MSI_MESSAGE_LOG_ENDPOINTS": "tcp://log.test:7000,ipc://\(folder)/run/message-log.sock"]
            ) { $1 }
            try await RunningGateway.with(services: [], in: folder, settings: settings) { gateway in
                for _ in 0..<14 { #expect(try await gateway.request("GET", "/health").status == 200) }
                let path = try await gateway.makeSubject()
                #expect(try await gateway.request("POST", "/message", body: path.message()).status == 201)
            }
        }
    }

    @Test("A host name is resolved again when its address changes, and an address of another machine is refused")
    func changingName() async throws {
        let port = try FreePort.choose()
        try await withNames(["log.test": "10.9.8.7"], logListens: "tcp://127.0.0.1:\(port)") { settings, folder in
            let names = HostNames(path: "\(folder)/hosts")
            let settings = settings.merging(["MSI_MESSAGE_LOG_ENDPOINTS": "tcp://log.test:\(port)"]) { $1 }
            try await RunningGateway.with(services: [], in: folder, settings: settings) { gateway in
                let path = try await gateway.makeSubject()
                func status() async throws -> Int {
                    try await gateway.request("POST", "/message", body: path.message()).status
                }
                #expect(try await status() == 503)
                try await eventually {
                    gateway.process.log.contains("log.test has the address 10.9.8.7, which is no loopback address")
                }
                try names.set(["log.test": "127.0.0.1"])
                try await eventually { try await status() == 201 }
            }
        }
    }

    private func withNames(
        _ addresses: [String: String?], logListens: String? = nil, _ body: ([String: String], String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let names = HostNames(path: "\(folder)/hosts")
            try names.set(addresses)
            let log = logListens.map { ["MSI_MESSAGE_LOG_LISTEN": $0] } ?? [:]
            let services = ServiceEntry.gateway.startDependencies.map(\.executable)
            try await RunningGateway.withServices(services[...], settings: log, in: folder) {
                try await body(names.environment, folder)
            }
        }
    }
}

import CommandBus
import JSON
import Schemas
import TestSupport
import Testing

/// Connections to FCM that go silent, with the relay's executable.
@Suite("Connections to FCM that hang", .timeLimit(.minutes(2)))
struct BrokenPathTests {
    /// Without this feature, delivery stopped until the kernel closed the connection after a quarter of an hour.
    @Test("Connections that accept everything and answer nothing are replaced within FCM's request timeout")
    func deadConnections() async throws {
        try await withTemporaryFolder { folder in
            try await withEmulator(in: folder) { port in
                try await withTCPProxy(to: port) { proxy in
                    let settings = [
                        "MSI_FCM_ENDPOINT": "https://127.0.0.1:\(proxy.port)",
                        "MSI_FCM_SERVICE_ACCOUNT_FILE": "\(folder)/fcm-emulator/service-account.json",
                    ]
                    try await withRelay(beside: port, in: folder, settings: settings) { relay in
                        // One connection for each of the relay's threads.
                        while proxy.connections < 2 { #expect(try await relay.isAccepted(.sample(.information))) }
                        proxy.silenceConnections()
                        let cut = ContinuousClock.now
                        let resumed = try #require(try await Self.firstAccepted(by: relay))
                        #expect(resumed - cut < .seconds(10))
                        // Dead connections have no requests by then, and are closed.
                        try await eventually(within: .seconds(15)) { proxy.openSwallowedConnections == 0 }
                    }
                }
            }
        }
    }

    /// Sends a message five times a second until FCM accepts one.
    ///
    /// - Returns: When it did; `nil` if it does not within half a minute.
    private static func firstAccepted(by relay: RelayBesideEmulator) async throws -> ContinuousClock.Instant? {
        let (accepted, acceptance) = AsyncStream<ContinuousClock.Instant>.makeStream()
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { sends in
                    while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                        sends.addTask {
                            let isAccepted = try? await relay.isAccepted(.sample(.information), timeout: .seconds(8))
                            if isAccepted == true { acceptance.yield(.now) }
                        }
                    }
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(30))
                acceptance.finish()
            }
            defer { group.cancelAll() }
            for await moment in accepted { return moment }
            return nil
        }
    }

    /// Without this feature, a command with a timeout of 3 seconds was answered only after the resolver, and the
    /// stop waited as well.
    @Test("A resolver that hangs delays neither the answers nor the stop")
    func hangingResolver() async throws {
        try await withTemporaryFolder { folder in
            let names = HostNames(path: "\(folder)/hosts")
            try names.set(["fcm.test": nil])
            try await withEmulator(in: folder) { port in
                let settings = [
                    "MSI_FCM_ENDPOINT": "https://fcm.test:\(port)",
                    "MSI_FCM_SERVICE_ACCOUNT_FILE": "\(folder)/fcm-emulator/service-account.json",
                ].merging(names.environment) { $1 }
                try await withRelay(beside: port, in: folder, settings: settings) { relay in
                    let begin = ContinuousClock.now
                    // Each of the relay's threads gets some requests.
                    try await withThrowingTaskGroup(of: String?.self) { group in
                        for _ in 0..<8 {
                            group.addTask { try await relay.errorCode(of: .sample(.information), timeout: .seconds(3)) }
                        }
                        for try await code in group { #expect(code == "TIMEOUT") }
                    }
                    #expect(ContinuousClock.now - begin < .seconds(4))

                    try names.set(["fcm.test": "127.0.0.1"])
                    // The name resolves to the emulator then, although its certificate is for another name.
                    #expect(try await relay.errorCode(of: .sample(.information)) == "TLS")
                }
                try names.set(["fcm.test": nil])
                try await withRelay(beside: port, in: folder, settings: settings) { relay in
                    async let answer = relay.relay(.sample(.information), timeout: .seconds(3))
                    // The command is pending by the time of this reply.
                    _ = try await relay.client.request(Ping(), timeout: .seconds(3))
                    let told = ContinuousClock.now
                    let status = await relay.process.stop()
                    #expect(status == 0)
                    #expect(ContinuousClock.now - told < .seconds(5))
                    _ = try? await answer
                }
            }
        }
    }
}

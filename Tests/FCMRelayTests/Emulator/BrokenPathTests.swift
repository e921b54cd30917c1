import Bus
import Base
import Schemas
import TestSupport
import Testing

/// Connections to FCM that go silent, with the relay's executable.
@Suite("Connections to FCM that hang", .timeLimit(.minutes(10)))
struct BrokenPathTests {
    /// Without this feature, delivery stopped until the kernel closed the connection after a quarter of an hour.
    @Test("Connections that accept everything and answer nothing are replaced")
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
                        try #require(await Self.isAcceptedAgain(by: relay))
                        // Dead connections have no requests by then, and are closed.
                        try await eventually { proxy.openSwallowedConnections == 0 }
                    }
                }
            }
        }
    }

    /// Sends a message five times a second until FCM accepts one.
    ///
    /// - Returns: Whether it does within two minutes.
    private static func isAcceptedAgain(by relay: RelayBesideEmulator) async -> Bool {
        let (accepted, acceptance) = AsyncStream<Void>.makeStream()
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { sends in
                    while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                        sends.addTask {
                            let isAccepted = try? await relay.isAccepted(.sample(.information), timeout: .seconds(8))
                            if isAccepted == true { acceptance.yield() }
                        }
                    }
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(120))
                acceptance.finish()
            }
            defer { group.cancelAll() }
            for await _ in accepted { return true }
            return false
        }
    }

    /// The resolver hangs for a minute.
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
                            group.addTask {
                                while true {
                                    do {
                                        return try await relay.errorCode(of: .sample(.information), timeout: .seconds(1))
                                    } catch let failure as CommandFailure
                                        where failure.status == .deadlineExceeded && ContinuousClock.now - begin < .seconds(50)
                                    {
                                        // The reply is due a quarter of a second before the deadline, and comes later on a busy machine.
                                    }
                                }
                            }
                        }
                        for try await code in group { #expect(code == "TIMEOUT") }
                    }
                    #expect(ContinuousClock.now - begin < .seconds(50))

                    try names.set(["fcm.test": "127.0.0.1"])
                    // The name resolves to the emulator then, although its certificate is for another name.
                    #expect(try await relay.errorCode(of: .sample(.information)) == "TLS")
                }
                try names.set(["fcm.test": nil])
                try await withRelay(beside: port, in: folder, settings: settings) { relay in
                    async let answer = relay.relay(.sample(.information), timeout: .seconds(1))
                    // The command is pending by the time of this reply.
                    _ = try await relay.client.request(Ping(), timeout: .seconds(60))
                    let told = ContinuousClock.now
                    let status = await relay.process.stop()
                    #expect(status == 0)
                    #expect(ContinuousClock.now - told < .seconds(50))
                    _ = try? await answer
                }
            }
        }
    }
}

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing
import TestSupport

@testable import FCMEmulator

/// The built executable: kills, stops, and requests by curl.
@Suite("The emulator as a process")
struct ProcessTests {
    @Test("After a SIGKILL, everything that was accepted is still there")
    func aKillLosesNothing() async throws {
        try await TemporaryFolder.with { folder in
            let first = try await EmulatorProcess(in: folder)
            let (phone, accepted) = try await first.withClient { client in
                let phone = try await client.registerPhone()
                try await client.subscribe([phone], to: "t")
                // Many concurrent sends, interrupted by a kill. The sends that were answered before count.
                let accepted = await withTaskGroup(of: String?.self) { group in
                    for number in 0..<400 {
                        group.addTask {
                            guard let answer = try? await client.sendMark("\(number)", to: ("topic", "t")) else { return nil }
                            return answer.status == 200 ? "\(number)" : nil
                        }
                    }
                    var accepted: [String] = []
                    for await mark in group {
                        if let mark { accepted.append(mark) }
                        if accepted.count == 100 {
                            await first.kill()
                            // The client would keep trying to connect.
                            group.cancelAll()
                        }
                    }
                    return accepted
                }
                return (phone, accepted)
            }
            #expect(accepted.count >= 100)

            let second = try await EmulatorProcess(in: folder)
            let delivered = try await second.withClient { client in
                // Counted like the messages themselves: all or nothing.
                let counted = try await client.call(.GET, "/emulator/counts", token: nil).object["accepted"] as? Int
                let delivered = try await client.everything(for: phone)
                #expect(counted == delivered.count)
                return delivered
            }
            #expect(Set(accepted).subtracting(delivered).isEmpty)
            #expect(Set(delivered).count == delivered.count)
            #expect(await second.stop() == 0)
        }
    }

    @Test("An event that was written just before a SIGKILL is sent again")
    func anEventThatWasJustWrittenComesAgainAfterAKill() async throws {
        try await TemporaryFolder.with { folder in
            // On a busy machine the kill may come more than a second after the write. Then the test repeats it.
            for _ in 0..<20 {
                let first = try await EmulatorProcess(in: folder)
                let (phone, elapsed) = try await first.withClient { client in
                    let phone = try await client.registerPhone()
                    var stream = try await client.listen(phone)
                    let start = ContinuousClock.now
                    _ = try await client.sendMark("1", to: ("token", phone))
                    #expect(try await stream.next().mark == "1")
                    await first.kill()
                    return (phone, ContinuousClock.now - start)
                }
                guard elapsed < DeliveryCursor.settlingTime else { continue }
                let second = try await EmulatorProcess(in: folder)
                #expect(try await second.withClient { try await $0.everything(for: phone) } == ["1"])
                #expect(await second.stop() == 0)
                return
            }
            Issue.record("the machine is too busy to kill a process within a second")
        }
    }

    @Test("It stops at once while event streams are open, and a peer is connected that never sends anything")
    func itStopsAtOnceWithStreamsOpen() async throws {
        try await TemporaryFolder.with { folder in
            let emulator = try await EmulatorProcess(in: folder)
            try await emulator.withClient { client in
                let phone = try await client.registerPhone()
                var stream = try await client.listen(phone)
                // Connected, and silent where the TLS handshake should be.
                let silent = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: emulator.port).get()
                #expect(await emulator.stop() == 0)
                #expect(await stream.ends())
                try await silent.closeFuture.get()
            }
        }
    }

    @Test("It stops with status 0 while new connections arrive")
    func itStopsWellWhileNewConnectionsCome() async throws {
        try await TemporaryFolder.with { folder in
            for _ in 0..<(Level.isAll ? 12 : 2) {
                let emulator = try await EmulatorProcess(in: folder)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<16 {
                        group.addTask {
                            // Another connection each time, until no more are possible.
                            while (try? await emulator.withClient({ try await $0.registerPhone() })) != nil {}
                        }
                    }
                    try? await Task.sleep(for: .milliseconds(300))
                    #expect(await emulator.stop() == 0)
                    group.cancelAll()
                }
            }
        }
    }

    @Test("A port that is taken is an error that says so")
    func aPortThatIsTakenIsAClearError() async throws {
        try await TemporaryFolder.with { folder in
            let emulator = try await EmulatorProcess(in: folder)
            try await TemporaryFolder.with { other in
                let failure = await #expect(throws: ServiceProcess.StartFailed.self) {
                    _ = try await EmulatorProcess(in: other, port: emulator.port)
                }
                #expect(failure?.description.contains("port \(emulator.port) is in use by another program") == true)
            }
            #expect(await emulator.stop() == 0)
        }
    }

    @Test("A file configures its behaviour from the start, and an invalid file is an error that says why")
    func behaviourFile() async throws {
        try await TemporaryFolder.with { folder in
            let file = "\(folder.path)/behaviour.json"
            let settings = ["MSI_FCM_EMULATOR_BEHAVIOUR_FILE": file]
            try #"{"faults":{"rules":[{"fault":"INTERNAL","count":1}]},"connections":{"streams":9},"#
                .appending(#""platforms":{"ios":{"most":3}}}"#)
                .write(toFile: file, atomically: true, encoding: .utf8)
            let emulator = try await EmulatorProcess(in: folder, settings: settings)
            try await emulator.withClient { client in
                #expect(try await client.sendMark("x", to: ("topic", "t")).status == 500)
                #expect(try await client.call(.GET, "/emulator/connections", token: nil).object["streams"] as? Int == 9)
                let platforms = try await client.call(.GET, "/emulator/platforms", token: nil).object
                #expect((platforms["ios"] as? [String: Int])?["most"] == 3)
                // The initial settings are restored, with the fault.
                #expect(try await client.sendMark("x", to: ("topic", "t")).status == 200)
                _ = try await client.call(.DELETE, "/emulator/faults", token: nil)
                #expect(try await client.sendMark("x", to: ("topic", "t")).status == 500)
            }
            #expect(await emulator.stop() == 0)
            for (content, problem) in [
                (#"{"faults":{"rules":[{"fault":"INTERNAL","share":2}]}}"#, "faults.rules[0].share"), ("{", "Invalid JSON"),
                (#"{"fault":{}}"#, "fault"), (#"{"faults":{},"faults":{}}"#, "'faults' is there more than once"),
                (nil, "cannot be read"),
            ] {
                try content?.write(toFile: file, atomically: true, encoding: .utf8)
                if content == nil { try FileManager.default.removeItem(atPath: file) }
                let failure = await #expect(throws: ServiceProcess.StartFailed.self) {
                    _ = try await EmulatorProcess(in: folder, settings: settings)
                }
                #expect(failure?.description.contains("MSI_FCM_EMULATOR_BEHAVIOUR_FILE") == true)
                #expect(failure?.description.contains(problem) == true, "\(failure?.description ?? "")")
            }
        }
    }

    @Test("A phone can be registered, subscribed and watched only with curl")
    func curlIsAllThatAPhoneNeeds() async throws {
        try await TemporaryFolder.with { folder in
            let emulator = try await EmulatorProcess(in: folder)
            let base = "https://127.0.0.1:\(emulator.port)"
            func curl(_ arguments: String...) async throws -> String {
                let environment = ProcessInfo.processInfo.environment
                let process = try await ChildProcess(
                    URL(filePath: "/usr/bin/curl"),
                    ["--silent", "--show-error", "--http2", "--max-time", "20", "--cacert", "\(folder.emulator)/ca.pem"]
                        + arguments,
                    environment: environment, logFile: "\(folder.path)/curl.log")
                _ = await process.end()
                return process.log
            }
            let registered = try await curl("--request", "POST", "\(base)/emulator/devices")
            let token = try #require(registered.firstMatch(of: /"token":"([^"]+)"/)).1
            let owner = "Authorization: Bearer owner"
            let subscribed = try await curl(
                "--header", owner, "--header", "access_token_auth: true", "--data",
                #"{"to":"/topics/t","registration_tokens":["\#(token)"]}"#, "\(base)/iid/v1:batchAdd")
            #expect(subscribed == #"{"results":[{}]}"#)
            let sent = try await curl(
                "--header", owner, "--write-out", " HTTP/%{http_version}", "--data",
                #"{"message":{"topic":"t","data":{"mark":"by curl"}}}"#,
                "\(base)/v1/projects/msi-emulator/messages:send")
            #expect(sent.hasPrefix(#"{"name":"projects/msi-emulator/messages/"#) && sent.hasSuffix(" HTTP/2"))
            let stream = try await curl("--no-buffer", "--max-time", "2", "\(base)/emulator/devices/\(token)/events")
            #expect(stream.contains("id: 1\ndata: {\"messageId\":") && stream.contains(#""data":{"mark":"by curl"}"#))
            let byLocalhost = try await curl("https://localhost:\(emulator.port)/emulator/status")
            #expect(byLocalhost.hasPrefix(#"{"accepted":1,"devices":1,"subscriptions":1,"#))
            #expect(await emulator.stop() == 0)
        }
    }
}

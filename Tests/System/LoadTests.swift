import FoundationEssentials
import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// The load tester against the product.
    @Suite("Load")
    struct LoadTests {
        let stack: Stack

        init() throws {
            stack = try SharedStack.current
        }

        private func load(
            _ arguments: [String], exitCode: Int32 = 0
        ) async throws -> (figures: JSONValue, lines: [String]) {
            let file = stack.stateDirectory + "/load.json"
            let plot = stack.stateDirectory + "/load.svg"
            let end = try await runProgram(
                "msi-load", arguments + ["--json", file, "--svg", plot], environment: stack.environment)
            #expect(end.exitCode == exitCode && end.lines.contains { $0.hasPrefix("throughput") }, "\(end.lines)")
            #expect(try String(contentsOfFile: plot, encoding: .utf8).hasPrefix("<svg"))
            return (try JSONValue(parsing: Data(contentsOf: URL(filePath: file))), end.lines)
        }

        @Test("The counts of a load on the relay agree with FCM's")
        func relay() async throws {
            func topic(_ send: JSONValue) -> JSONValue? { send["body"]?["message"]?["topic"] }
            let before = Set(try await stack.fcm.acceptedSends().map(topic))
            let (figures, lines) = try await load(
                ["relay", "--rate", "40", "--duration", "2", "--alerts", "50", "--topics", "3", "--text", "10"])
            #expect(figures["accepted"] == 80 && figures["failed"] == 0)
            #expect(lines.contains { $0.contains("80 sent, 80 accepted, 0 failed") })
            // The load has its own topics.
            let sends = try await stack.fcm.acceptedSends().filter { !before.contains(topic($0)) }
            let alerts = sends.count { $0["body"]?["message"]?["notification"] != nil }
            #expect(sends.count == 80 + alerts && (20...60).contains(alerts))
        }

        @Test("A load on the gateway goes through the whole product, and its channel is removed afterwards")
        func gateway() async throws {
            let start = Int64.nowInMilliseconds
            let (figures, _) = try await load(["gateway", "--rate", "30", "--duration", "2", "--topics", "2"])
            #expect(figures["accepted"] == 60 && figures["failed"] == 0)
            let archive = try await stack.portal.call(.GET, "/message?limit=200&from=\(start)").json["messages"]?.array ?? []
            #expect(archive.count { $0["names"]?["channel"] == "Load test" } == 60)
            let channels = try await stack.portal.call(.GET, "/channel").json.array
            #expect(!channels.contains { $0["name"] == "Load test" })
        }

        @Test("A load that counts at the phones: each phone has each accepted message once")
        func phones() async throws {
            let (figures, lines) = try await load(
                ["gateway", "--rate", "20", "--duration", "2", "--topics", "2", "--phones", "12"])
            let phones = figures["phones"]
            #expect(figures["accepted"] == 40 && phones?["phones"] == 12)
            #expect(phones?["incomplete"] == 0 && phones?["missing"] == 0 && phones?["doubled"] == 0, "\(figures)")
            #expect(phones?["delivered"] == 480 && phones?["expected"] == 480, "\(figures)")
            #expect(lines.contains { $0.hasPrefix("phones") && $0.contains("12: 480 of 480 messages delivered") })
            let channels = try await stack.portal.call(.GET, "/channel").json.array
            #expect(!channels.contains { $0["name"] == "Load test" })
        }

        @Test("Phones are refused where there is no emulator, so that real phones get no load")
        func realPhones() async throws {
            for environment in [
                ["MSI_STATE_DIR": stack.stateDirectory + "/other"],
                ["MSI_STATE_DIR": stack.stateDirectory, "MSI_FCM_SERVICE_ACCOUNT_FILE": "/etc/msi/account.json"],
            ] {
                let end = try await runProgram(
                    "msi-load", ["gateway", "--phones", "5", "--duration", "1"],
                    environment: environment.merging(["MSI_GATEWAY_PORT": "\(stack.portal.port)"]) { $1 })
                #expect(end.exitCode == 64)
                #expect(end.lines.contains { $0.contains("--phones: the phones need the FCM emulator") }, "\(end.lines)")
            }
            let channels = try await stack.portal.call(.GET, "/channel").json.array
            #expect(!channels.contains { $0["name"] == "Load test" })
        }

        @Test("Errors are reported by class, and a load without an accepted message fails")
        func errors() async throws {
            let endpoint = "ipc://\(stack.stateDirectory)/nobody.sock"
            let (figures, _) = try await load(
                ["relay", "--endpoint", endpoint, "--rate", "10", "--duration", "1"],
                exitCode: 1)
            #expect(figures["accepted"] == 0)
            #expect(figures["errors"] == ["bus unavailable (no connection to \(endpoint); the command was not sent)": 10])
        }

        @Test("A file that cannot be written is named before anything is sent")
        func unwritable() async throws {
            func topics() async throws -> Set<JSONValue?> {
                Set(try await stack.fcm.acceptedSends().map { $0["body"]?["message"]?["topic"] })
            }
            let before = try await topics()
            let end = try await runProgram(
                "msi-load", ["relay", "--duration", "1", "--svg", stack.stateDirectory + "/nowhere/load.svg"],
                environment: ["MSI_STATE_DIR": stack.stateDirectory])
            #expect(end.exitCode == 64)
            #expect(end.lines.contains { $0.contains("--svg: ") && $0.contains("nowhere/load.svg cannot be written") })
            #expect(try await topics() == before)
        }
    }
}

extension HarmTests.WithoutSupervisor {
    /// The load tester against a relay alone.
    @Suite("Load on a relay")
    struct RelayLoadTests {
        @Test("A relay in its ramp is named as the limit of the load")
        func ramp() async throws {
            try await SharedServices.use { services in
                // The rate starts at 16 messages a second and rises by 13 each second.
                let relay = try await services.start(
                    "msi-fcm-relay", settings: ["MSI_FCM_RAMP": "60", "MSI_FCM_QUOTA": "60000"])
                let file = services.folder + "/load.json"
                let end = try await runProgram(
                    "msi-load", ["relay", "--rate", "100", "--duration", "2", "--alerts", "0", "--json", file],
                    environment: ["MSI_STATE_DIR": services.folder])
                #expect(end.exitCode == 0)
                #expect(end.lines.contains { $0.hasPrefix("held back") && $0.contains("MSI_FCM_RAMP") }, "\(end.lines)")
                let figures = try JSONValue(parsing: Data(contentsOf: URL(filePath: file)))
                #expect(figures["accepted"] == 200)
                let throughput = try #require(figures["throughput"].flatMap(Self.number))
                let lastAnswer = try #require(figures["lastAnswer"].flatMap(Self.number))
                // The ramp begins with the relay, perhaps some seconds before the load. Without it this would be two seconds.
                #expect(lastAnswer > 2.2 && abs(throughput * lastAnswer - 200) < 0.1, "\(throughput) for \(lastAnswer) s")
                #expect(await relay.stop() == 0)
            }
        }

        private static func number(_ value: JSONValue) -> Double? {
            value.number.flatMap { Double($0) }
        }
    }
}

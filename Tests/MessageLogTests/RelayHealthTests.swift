import Bus
import Base
import Schemas
import TestSupport
import Testing

@Suite("Health of the relays", .timeLimit(.minutes(10)))
struct RelayHealthTests {
    @Test("A relay's dependencies are part of its health, and several relays are distinguished")
    func severalRelays() async throws {
        let fcm = ["fcm": PartHealth(.unavailable, "20 requests failed in a row")]
        let well = PartHealth(.ok, version: productVersion, parts: fcm)
        try await withTemporaryFolder { folder in
            let settings = [
                "MSI_FCM_RELAY_ENDPOINTS": "ipc://\(folder)/run/fcm-relay.sock,ipc://\(folder)/run/absent.sock"
            ]
            try await RelayDouble(parts: fcm).run(in: folder) {
                try await RunningMessageLog.with(in: folder, settings: settings) { log in
                    // A busy machine may take a second for the first answer.
                    try await eventually {
                        try await log.client.request(CheckHealth()).parts["relay"]?.parts["1"] == well
                    }
                    let relay = try #require(try await log.client.request(CheckHealth()).parts["relay"])
                    #expect(relay.status == .ok && !relay.isWell && relay.message != nil)
                    #expect(relay.parts["2"]?.status == .unavailable)
                }
                try await RunningMessageLog.with(in: folder) { log in
                    try await eventually { try await log.client.request(CheckHealth()).parts["relay"] == well }
                }
            }
        }
    }

    @Test("Relays that appear and stop are those of the health, by the names of their sockets")
    func relaysComeAndGo() async throws {
        let fcm = ["fcm": PartHealth.ok]
        let well = PartHealth(.ok, version: productVersion, parts: fcm)
        try await withTemporaryFolder { folder in
            let settings = ["MSI_FCM_RELAY_ENDPOINTS": "ipc://\(folder)/run/fcm-relay@*.sock"]
            try await RunningMessageLog.with(in: folder, settings: settings) { log in
                func expect(_ expected: PartHealth) async throws {
                    try await eventually("\(expected)", every: .milliseconds(100)) {
                        try await log.client.request(CheckHealth()).parts["relay"] == expected
                    }
                }
                let absent = PartHealth(.unavailable, "no relay is there, or it is stopping")
                try await expect(absent)
                try await RelayDouble(parts: fcm).run(in: folder, named: "fcm-relay@1") {
                    try await expect(well)
                    try await RelayDouble(parts: fcm).run(in: folder, named: "fcm-relay@2") {
                        try await expect(PartHealth(.ok, parts: ["fcm-relay@1": well, "fcm-relay@2": well]))
                    }
                    try await expect(well)
                }
                try await expect(absent)
            }
        }
    }
}

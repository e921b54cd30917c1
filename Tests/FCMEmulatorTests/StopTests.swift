import NIOHTTP1
import TestSupport
import Testing

/// Stops of the built executable during delayed sends.
@Suite("A stop", .timeLimit(.minutes(10))) struct StopTests {
    @Test(
        "A send that was accepted is answered completely when the emulator stops, however long the answer was to be delayed",
        arguments: ["DELAY_REPLY", "SLOW_BODY"])
    func accepted(fault: String) async throws {
        try await TemporaryFolder.with { folder in
            let emulator = try await EmulatorProcess(in: folder)
            try await emulator.withClient { client in
                try await client.fault(#"{"fault":"\#(fault)","fixed_ms":60000}"#)
                async let answer = client.sendMark("x", to: ("topic", "t"))
                try await eventually {
                    try await client.call(.GET, "/emulator/counts", token: nil).object["accepted"] as? Int == 1
                }
                #expect(await emulator.stop() == 0)
                let found = try await answer
                #expect(found.status == 200 && found.object["name"] is String, "\(found.text)")
            }
        }
    }

    @Test("A send that is delayed before it is accepted is answered 503 at a stop, and is not accepted") func heldBack()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let emulator = try await EmulatorProcess(in: folder)
            try await emulator.withClient { client in
                try await client.fault(#"{"fault":"DELAY","fixed_ms":60000}"#)
                async let answer = client.sendMark("x", to: ("topic", "t"))
                try await eventually { try await client.faultHits() == [1] }
                #expect(await emulator.stop() == 0)
                let found = try await answer
                #expect(found.status == 503 && found.fcmErrorCode == "UNAVAILABLE", "\(found.text)")
            }
            let next = try await EmulatorProcess(in: folder)
            let accepted = try await next.withClient { client in
                try await client.call(.GET, "/emulator/counts", token: nil).object["accepted"] as? Int
            }
            #expect(accepted == 0)
            #expect(await next.stop() == 0)
        }
    }
}

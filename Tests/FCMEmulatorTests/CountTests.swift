import Store
import Foundation
import GRDB
import Base
import NIOHTTP1
import Schemas
import Testing
import TestSupport

@testable import FCMEmulator

/// The counts that prove that nothing was lost and nothing doubled.
@Suite("Counts") struct CountTests {
    @Test("Accepted sends are counted by msi_key and component, and answers by status") func summary() async throws {
        try await withEmulator { client in
            func send(_ key: String?, notification: Bool, extra: String = "") async throws {
                let data = key.map { #""data":{"msi_key":"\#($0)"},"# } ?? ""
                let shown = notification ? #""notification":{"title":"t"},"# : ""
                _ = try? await client.send("{\(extra)\"message\":{\(data)\(shown)\"topic\":\"t\"}}")
            }
            for key in ["a", "b", "c"] {
                try await send(key, notification: true)
                try await send(key, notification: false)
            }
            try await send("b", notification: true)
            try await send("b", notification: true)
            try await send(nil, notification: true)
            try await send("dry", notification: true, extra: #""validate_only":true,"#)
            _ = try await client.send(#"{"message":{"topic":"no topic","data":{"msi_key":"wrong"}}}"#)
            _ = try await client.send(#"{"message":{"topic":"t"}}"#, token: nil)
            try await client.fault(#"{"fault":"LOST_REPLY","count":1}"#, #"{"fault":"RESET_STREAM"}"#)
            try await send("lost", notification: false)
            try await send("undone", notification: false)

            let counts = try await client.call(.GET, "/emulator/counts", token: nil)
            #expect(
                counts.text
                    == #"{"accepted":10,"distinct":7,"doubled":1,"unkeyed":1,"demoted":0,"throttled":0,"#
                    + #""answers":{"none":2,"200":10,"400":1,"401":1}}"#)
            let message = try await client.call(.GET, "/emulator/counts?msi_key=b", token: nil)
            #expect(message.text == #"{"notification":3,"data":1}"#)
            let stranger = try await client.call(.GET, "/emulator/counts?msi_key=z", token: nil)
            #expect(stranger.text == #"{"notification":0,"data":0}"#)
            let doubled = try await client.call(.GET, "/emulator/counts/doubled", token: nil)
            #expect(doubled.text == #"[{"msi_key":"b","component":"notification","sends":3}]"#)

            #expect(try await client.call(.DELETE, "/emulator/counts", token: nil).status == 204)
            #expect(
                try await client.call(.GET, "/emulator/counts", token: nil).text
                    == #"{"accepted":0,"distinct":0,"doubled":0,"unkeyed":0,"demoted":0,"throttled":0,"answers":{}}"#)
        }
    }

    @Test("The list of accepted sends has the configured length, even 0, and phones miss no message")
    func archiveLimit() async throws {
        try await withEmulator(behaviour: ["archive": ["keep": .integer(3)]]) { client in
            let phone = try await client.registerPhone()
            try await client.subscribe([phone], to: "t")
            for number in 1...5 { _ = try await client.sendMark("\(number)", to: ("topic", "t")) }
            #expect(try await client.acceptedTopics().count == 3)
            #expect(try await client.call(.GET, "/emulator/status", token: nil).object["accepted"] as? Int == 3)
            _ = try await client.call(.PUT, "/emulator/archive", token: nil, #"{"keep":0}"#)
            #expect(try await client.acceptedTopics() == [])
            _ = try await client.sendMark("6", to: ("topic", "t"))
            _ = try await client.sendMark("nobody's", to: ("topic", "empty"))
            _ = try await client.sendMark("7", to: ("condition", "'t' in topics"))
            _ = try await client.sendMark("nobody's", to: ("condition", "'empty' in topics"))
            #expect(try await client.call(.GET, "/emulator/counts", token: nil).object["accepted"] as? Int == 9)
            #expect(try await client.everything(for: phone) == ["1", "2", "3", "4", "5", "6", "7"])
        }
    }

    @Test("Sends that are neither listed nor waited for take up no space") func room() async throws {
        try await TemporaryFolder.with { folder in
            let store = try EmulatorStore(path: "\(folder.path)/store.sqlite")
            for token in ["here:", "behind:"] { try await store.register(token: token) }
            _ = try await store.subscribe(["here:"], to: "busy", now: 1)
            _ = try await store.subscribe(["behind:"], to: "slow", now: 1)
            func send(_ count: Int, keeping keep: Int, to target: SendRequest.Target) async throws {
                try await concurrently(count) { number in
                    _ = try await store.accept(
                        .init(
                            name: "n", target: target, component: .init(msiKey: "\(number)", component: .data),
                            received: 1, expires: .max, collapseKey: nil, body: []),
                        keeping: keep)
                }
            }
            func stored() async throws -> Int {
                try await store.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM message") ?? 0 }
            }
            try await send(500, keeping: 100, to: .topic("busy"))
            try await send(300, keeping: 100, to: .topic("slow"))
            try await send(150, keeping: 100, to: .token("here:"))
            // One phone has received everything, the other nothing.
            try await store.confirm(950, deliveredTo: 1)
            try await send(50, keeping: 100, to: .topic("nobody's"))
            #expect(try await stored() == 300 + 100)
            try await store.confirm(1_000, deliveredTo: 2)
            try await send(1_000, keeping: 100, to: .topic("nobody's"))
            #expect(try await stored() == 100)
            try await send(1_000, keeping: 0, to: .topic("nobody's"))
            #expect(try await stored() == 100)
            let counts = try await store.sendCounts()
            #expect(counts.accepted == 3_000 && counts.distinct == 1_000)
            try store.close()
        }
    }
}

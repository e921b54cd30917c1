import Foundation
import NIOHTTP1
import Testing
import TestSupport

@Suite("The emulator's list of accepted sends")
struct ArchiveTests {
    @Test("Accepted sends are listed in order, with the bodies as they were received")
    func acceptedSendsAreListedAsTheyCame() async throws {
        try await withEmulator { client in
            let bodies = [
                "{ \"message\" :\t{\"topic\":\"a\", \"data\":{\"k\":\"\\u00e9 \\ud83d\\ude00 \\/\"}}}",
                "{\"message\":{\n\"topic\":\"b\"}}",
                "{\"message\":{\"topic\":\"a\",\"data\":{\"arabic\":\"مرحبا\"}}}",
            ]
            var names: [String] = []
            for body in bodies { names.append(try #require(try await client.send(body).object["name"] as? String)) }
            _ = try await client.send(#"{"message":{"topic":"a","wrong":1}}"#)

            let all = try await client.call(.GET, "/emulator/messages", token: nil).text
            let list = try #require(try JSONSerialization.jsonObject(with: Data(all.utf8)) as? [[String: Any]])
            #expect(list.map { $0["name"] as? String } == names)
            for body in bodies { #expect(all.contains("\"body\":\(body)}")) }
            #expect(list.allSatisfy { $0["received_at"] is Int })

            let some = try await client.call(.GET, "/emulator/messages?topic=a", token: nil).text
            #expect(some.contains(bodies[0]) && !some.contains(bodies[1]) && some.contains(bodies[2]))
        }
    }

    @Test("A long list of sends is complete")
    func aLongListComesWhole() async throws {
        try await withEmulator { client in
            let count = 450
            try await concurrently(count) { number in try await client.sendMark("\(number)", to: ("topic", "t")) }
            let text = try await client.call(.GET, "/emulator/messages?topic=t", token: nil).text
            let list = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
            #expect(list.count == count)
            #expect(Set(list.compactMap { $0["name"] as? String }).count == count)
        }
    }

    @Test("Clearing the list of sends does not remove messages that phones still wait for")
    func clearingTheListLosesNobodysMessages() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            try await client.subscribe([phone], to: "t")
            _ = try await client.sendMark("1", to: ("topic", "t"))
            _ = try await client.sendMark("nobody's", to: ("topic", "empty"))
            _ = try await client.sendMark("2", to: ("token", phone))
            #expect(try await client.call(.DELETE, "/emulator/messages", token: nil).status == 204)
            let list = try await client.call(.GET, "/emulator/messages", token: nil).text
            #expect(list.filter { !$0.isWhitespace } == "[]")
            #expect(try await client.call(.GET, "/emulator/status", token: nil).object["accepted"] as? Int == 0)
            #expect(try await client.everything(for: phone) == ["1", "2"])
            #expect(try await client.call(.GET, "/emulator/status", token: nil).object["accepted"] as? Int == 1)
        }
    }
}

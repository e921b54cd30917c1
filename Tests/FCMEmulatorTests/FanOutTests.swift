import Base
import NIOHTTP1
import Testing
import TestSupport

@testable import FCMEmulator

/// The limited rate at which a message reaches the phones of a topic.
@Suite("Fan-out") struct FanOutTests {
    private static let start = ContinuousClock.now

    /// When messages reach a phone, in whole milliseconds from the start.
    private static func arrivals(_ names: [String], at phone: Int64, in fanOuts: FanOuts, after now: Duration = .zero) -> [Int?] {
        var fanOuts = fanOuts
        return names.map { name in
            fanOuts.arrival(of: name, at: phone, now: start + now).map { Int((($0 - start) / .milliseconds(1)).rounded()) }
        }
    }

    @Test("A message reaches one phone after another at the rate, the last one after all of them") func oneFanOut() {
        var fanOuts = FanOuts(rate: 10_000)
        fanOuts.begin("a", to: Array(1...40_000), at: Self.start)
        #expect(Self.arrivals(["a"], at: 10, in: fanOuts) == [1])
        #expect(Self.arrivals(["a"], at: 20_000, in: fanOuts) == [2_000])
        #expect(Self.arrivals(["a"], at: 40_000, in: fanOuts) == [4_000])
        #expect(Self.arrivals(["a"], at: 40_000, in: fanOuts, after: .milliseconds(3_999)) == [4_000])
        #expect(Self.arrivals(["a"], at: 40_000, in: fanOuts, after: .seconds(4)) == [nil])
        #expect(Self.arrivals(["a"], at: 20_000, in: fanOuts, after: .seconds(2)) == [nil])
        // A phone that is not among its recipients, and a message without a fan-out.
        #expect(Self.arrivals(["a"], at: 40_001, in: fanOuts) == [nil])
        #expect(Self.arrivals(["b"], at: 1, in: fanOuts) == [nil])
    }

    @Test("Fan-outs under way share the rate equally, also with those that begin or end in between") func shares() {
        var fanOuts = FanOuts(rate: 1_000)
        fanOuts.begin("a", to: Array(1...4_000), at: Self.start)
        fanOuts.begin("b", to: Array(1...4_000), at: Self.start)
        #expect(Self.arrivals(["a", "b"], at: 4_000, in: fanOuts) == [8_000, 8_000])
        // Two seconds later each has reached a thousand phones. A third one takes its share from both, until it has reached its ten phones.
        fanOuts.begin("c", to: Array(3_991...4_000), at: Self.start + .seconds(2))
        #expect(Self.arrivals(["a", "b", "c"], at: 4_000, in: fanOuts, after: .seconds(2)) == [8_010, 8_010, 2_030])
        #expect(Self.arrivals(["a", "b", "c"], at: 4_000, in: fanOuts, after: .seconds(3)) == [8_010, 8_010, nil])
        // What is left of the other one has the whole rate.
        fanOuts.cancel("b", at: Self.start + .milliseconds(6_010))
        #expect(Self.arrivals(["a", "b"], at: 4_000, in: fanOuts, after: .milliseconds(6_010)) == [7_010, nil])
        fanOuts.begin("d", to: [1, 2], at: Self.start + .seconds(20))
        #expect(Self.arrivals(["a", "d"], at: 2, in: fanOuts, after: .seconds(20)) == [nil, 20_002])
    }

    @Test("Without a limit nothing waits, and no fan-out is noted") func unlimited() {
        var fanOuts = FanOuts(rate: 0)
        fanOuts.begin("a", to: Array(1...40_000), at: Self.start)
        #expect(Self.arrivals(["a"], at: 40_000, in: fanOuts) == [nil])
    }

    @Test("The last phone of a topic gets a message after the others, and its later messages behind it")
    func delivery() async throws {
        try await withEmulator(behaviour: ["fanout": ["deliveries_per_s": 2]]) { client in
            var phones: [String] = []
            for _ in 0..<3 { phones.append(try await client.registerPhone()) }
            try await client.subscribe(phones, to: "news")
            var last = try await client.listen(phones[2])
            let begin = ContinuousClock.now
            #expect(try await client.sendMark("all", to: ("topic", "news")).status == 200)
            #expect(try await client.sendMark("one", to: ("token", phones[2])).status == 200)
            // A stream that is opened later waits for the same moment.
            var later = try await client.listen(phones[2])
            #expect(try await last.marks(2) == ["all", "one"])
            #expect(ContinuousClock.now - begin >= .milliseconds(1_499))
            #expect(try await later.marks(2) == ["all", "one"])
            var first = try await client.listen(phones[0])
            #expect(try await first.marks(1) == ["all"])
        }
    }

    @Test("A condition's message is fanned out, one to a single phone is not") func targets() async throws {
        try await withEmulator(behaviour: ["fanout": ["deliveries_per_s": 1]]) { client in
            let phones = [try await client.registerPhone(), try await client.registerPhone()]
            try await client.subscribe(phones, to: "a")
            var stream = try await client.listen(phones[1])
            let begin = ContinuousClock.now
            _ = try await client.sendMark("one", to: ("token", phones[1]))
            #expect(try await stream.marks(1) == ["one"])
            _ = try await client.sendMark("both", to: ("condition", "'a' in topics"))
            #expect(try await stream.marks(1) == ["both"])
            #expect(ContinuousClock.now - begin >= .milliseconds(1_999))
        }
    }

    @Test("Its settings are shown, changed and restored; a change ends the fan-outs under way") func settings() async throws {
        try await withEmulator { client in
            func call(_ method: HTTPMethod, _ body: String? = nil) async throws -> String {
                try await client.call(method, "/emulator/fanout", token: nil, body).text
            }
            #expect(try await call(.GET) == #"{"deliveries_per_s":0}"#)
            #expect(try await call(.PUT, #"{"deliveries_per_s":1}"#) == #"{"deliveries_per_s":1}"#)
            let negative = try await client.call(.PUT, "/emulator/fanout", token: nil, #"{"deliveries_per_s":-1}"#)
            #expect(negative.status == 400 && negative.violatedFields == ["deliveries_per_s"])
            var phones: [String] = []
            for _ in 0..<100 { phones.append(try await client.registerPhone()) }
            try await client.subscribe(phones, to: "news")
            _ = try await client.sendMark("all", to: ("topic", "news"))
            #expect(try await call(.DELETE) == #"{"deliveries_per_s":0}"#)
            // The fan-out would have taken longer than the stream's deadline.
            var last = try await client.listen(phones[99])
            #expect(try await last.marks(1) == ["all"])
        }
    }
}

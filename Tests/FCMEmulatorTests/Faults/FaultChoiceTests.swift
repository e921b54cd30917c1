import Base
import NIOHTTP1
import Testing
import TestSupport

@testable import FCMEmulator

/// Which requests have faults.
@Suite("The choice of faults") struct FaultChoiceTests {
    @Test("A rule can be limited to one topic, to a number of sends, or to both") func limits() async throws {
        try await withEmulator { client in
            try await client.fault(
                #"{"fault":"UNAVAILABLE","topic":"a","count":2}"#, #"{"fault":"INTERNAL","topic":"b"}"#)
            var statuses: [Int] = []
            for topic in ["a", "c", "a", "a", "b", "b", "a"] {
                statuses.append(try await client.sendMark("x", to: ("topic", topic)).status)
            }
            #expect(statuses == [503, 200, 503, 200, 500, 500, 200])
            #expect(try await client.faultHits() == [2, 2])
            #expect(try await client.acceptedTopics() == ["c", "a", "a"])
            // Removed by DELETE.
            #expect(try await client.call(.DELETE, "/emulator/faults", token: nil).status == 200)
            #expect(try await client.sendMark("x", to: ("topic", "b")).status == 200)
        }
    }

    @Test("Shares add up, and the same seed makes the same choices") func shares() throws {
        func run(seed: Int, _ rules: [JSONValue]) throws -> [Fault?] {
            var plan = try FaultPlan(
                ControlFields(try FormReader.read(["seed": .integer(seed), "rules": .array(rules)], as: FaultPlan.form)))
            return (0..<4_000).map { _ in plan.next(.send, .none).fault }
        }
        let mix: [JSONValue] = [
            ["fault": "UNAVAILABLE", "share": .number("0.1")], ["fault": "INTERNAL", "share": .number("0.2")],
            ["fault": "DELAY", "fixed_ms": .integer(5), "share": .number("0.5")],
        ]
        let first = try run(seed: 3, mix)
        #expect(try run(seed: 3, mix) == first)
        #expect(try run(seed: 4, mix) != first)
        // A rule of another stage changes none of them.
        #expect(try run(seed: 3, Array(mix.dropLast())) == first)
        let unavailable = first.count { $0 == .answer(.init(error: .unavailable, retryAfter: nil, body: .json)) }
        let `internal` = first.count { $0 == .answer(.init(error: .internal, retryAfter: nil, body: .json)) }
        #expect((330...470).contains(unavailable))
        #expect((690...910).contains(`internal`))
        #expect(first.count { $0 == nil } == 4_000 - unavailable - `internal`)
    }

    @Test("Latencies have the configured distribution") func latencies() {
        var generator = SeededGenerator(seed: 11)
        func percentiles(_ latency: Latency) -> [Double] {
            let sorted = (0..<20_000).map { _ in latency.draw(from: &generator) / .milliseconds(1) }.sorted()
            return [0, 10_000, 19_800, 19_999].map { sorted[$0] }
        }
        #expect(percentiles(.fixed(12.5)) == [12.5, 12.5, 12.5, 12.5])
        let uniform = percentiles(.uniform(min: 20, max: 80))
        #expect((20..<20.1).contains(uniform[0]) && (49...51).contains(uniform[1]) && (79.9...80).contains(uniform[3]))
        let tail = percentiles(.longTail(median: 40, p99: 900))
        #expect((38...42).contains(tail[1]) && (800...1_000).contains(tail[2]) && tail[3] > 2_000)
    }

    private static let refused = [
        (#"{"fault":"SNOW"}"#, "rules[0].fault"), (#"{"count":1}"#, "rules[0].fault"),
        (#"{"fault":"DELAY"}"#, "rules[0].fault"), (#"{"fault":"DELAY","fixed_ms":-1}"#, "rules[0].fixed_ms"),
        (#"{"fault":"DELAY","fixed_ms":1,"code":2}"#, "rules[0].code"),
        (#"{"fault":"DELAY","least_ms":5,"most_ms":4}"#, "rules[0].most_ms"),
        (#"{"fault":"INTERNAL","share":1.5}"#, "rules[0].share"), (#"{"fault":"INTERNAL","count":0}"#, "rules[0].count"),
        (#"{"fault":"UNREGISTERED","on":"TOKEN"}"#, "rules[0].on"), (#"{"fault":"INTERNAL","speed":1}"#, "rules[0]"),
        (#"{"fault":"RESET_STREAM","code":99}"#, "rules[0].code"),
        (#"{"fault":"GOAWAY","retry_after_s":1}"#, "rules[0].retry_after_s"),
    ]

    @Test("An invalid rule is refused by name, and changes nothing") func refusals() async throws {
        try await withEmulator { client in
            for (rule, field) in Self.refused {
                let answer = try await client.fault(rule)
                #expect(answer.status == 400)
                #expect(answer.violatedFields == [field], "\(answer.text)")
                #expect(try await client.faultHits() == [])
            }
        }
    }
}

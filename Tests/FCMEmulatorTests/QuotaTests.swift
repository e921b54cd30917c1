import NIOHTTP1
import Schemas
import TestSupport
import Testing
import Base

@testable import FCMEmulator

/// FCM's quotas.
@Suite("Quotas") struct QuotaTests {
    @Test("An empty bucket of the project says when it is refilled, and is refilled then") func project() async throws {
        try await withEmulator { client in
            // Invalid requests count as well. FCM's own failures do not.
            try await client.fault(#"{"fault":"INTERNAL","topic":"broken"}"#)
            var answers: [HTTPAnswer] = []
            try await eventually {
                // The bucket is full again each time.
                let put = try await client.call(
                    .PUT, "/emulator/quotas", token: nil, #"{"project":[{"most":3,"every_ms":2000,"phase_ms":500}]}"#)
                #expect(put.status == 200)
                answers = []
                for topic in ["a", "broken", "no topic", "b", "c", "d"] {
                    answers.append(try await client.sendMark("x", to: ("topic", topic)))
                }
                // Unless a refill came in between.
                return answers.map(\.status) == [200, 500, 400, 200, 429, 429]
            }
            let refused = try #require(answers.last)
            #expect(refused.errorStatus == "RESOURCE_EXHAUSTED" && refused.fcmErrorCode == nil)
            #expect(refused.details.first?["reason"] as? String == "RATE_LIMIT_EXCEEDED")
            #expect((refused.details.first?["metadata"] as? [String: String])?["quota_limit_value"] == "3")
            let wait = try #require(refused.headers.first(name: "Retry-After").flatMap { Int($0) })
            #expect((1...2).contains(wait))
            let quotas = try await client.call(.GET, "/emulator/quotas", token: nil)
            #expect(quotas.text.contains(#""project":[{"most":3,"refill":3,"every_ms":2000,"phase_ms":500,"left":"#))
            try await eventually { try await client.sendMark("x", to: ("topic", "again")).status == 200 }
            #expect(try await client.call(.DELETE, "/emulator/quotas", token: nil).text.contains(#""most":600000"#))
        }
    }

    @Test("The quota of a topic or phone does not limit others") func targets() async throws {
        try await withEmulator { client in
            let hour = #"[{"most":2,"every_ms":3600000}]"#
            _ = try await client.call(
                .PUT, "/emulator/quotas", token: nil, "{\"topic\":\(hour),\"device\":\(hour),\"collapsible\":[]}")
            let (ann, bob) = (try await client.registerPhone(), try await client.registerPhone())
            for (kind, busy, other) in [("topic", "a", "b"), ("token", ann, bob)] {
                var statuses: [Int] = []
                for target in [busy, busy, busy, other] {
                    statuses.append(try await client.sendMark("x", to: (kind, target)).status)
                }
                #expect(statuses == [200, 200, 429, 200])
                let refused = try await client.sendMark("x", to: (kind, busy))
                #expect(refused.fcmErrorCode == "QUOTA_EXCEEDED")
                #expect(refused.details.last?["@type"] as? String == "type.googleapis.com/google.rpc.QuotaFailure")
                #expect(refused.headers.first(name: "Retry-After").flatMap { Int($0) }.map { (1...3_600).contains($0) } == true)
            }
            // The quota of an unregistered phone is not used.
            _ = try await client.call(.DELETE, "/emulator/devices/\(bob)", token: nil)
            for _ in 0..<3 { #expect(try await client.sendMark("x", to: ("token", bob)).status == 404) }
        }
    }

    @Test("Collapsible messages have a smaller quota, which does not apply to a ttl of 0") func collapsible() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let collapsing = #","android":{"collapse_key":"k"}"#
            for _ in 0..<20 {
                #expect(try await client.sendMark("x", to: ("token", phone), extra: collapsing).status == 200)
            }
            #expect(try await client.sendMark("x", to: ("token", phone), extra: collapsing).fcmErrorCode == "QUOTA_EXCEEDED")
            let now = #","android":{"collapse_key":"k","ttl":"0s"}"#
            #expect(try await client.sendMark("x", to: ("token", phone), extra: now).status == 200)
            #expect(try await client.sendMark("x", to: ("token", phone)).status == 200)
        }
    }

    @Test("A bucket is refilled completely at fixed times, or gradually") func refills() {
        let whole = Allowance(capacity: 3, refill: 3, every: 1_000, phase: 300)
        var bucket = Bucket(whole, now: 1_200)
        let first = (0..<4).map { _ in bucket.take(of: whole, now: 1_200) }
        #expect(first == [nil, nil, nil, 100])
        let later = (0..<4).map { _ in bucket.take(of: whole, now: 1_300) }
        #expect(later == [nil, nil, nil, 1_000])

        let drops = Allowance(capacity: 5, refill: 1, every: 100, phase: 0)
        var slow = Bucket(drops, now: 0)
        for _ in 0..<5 { _ = slow.take(of: drops, now: 50) }
        #expect([99, 100, 250, 700, 99_999].map { slow.left(of: drops, now: $0) } == [0, 1, 2, 5, 5])
        let taken = slow.take(of: drops, now: 250)
        slow.putBack(drops)
        #expect(taken == nil && slow.left(of: drops, now: 299) == 2)
        // A clock that is set back refills nothing.
        let early = slow.take(of: drops, now: 0)
        #expect(early == nil && slow.left(of: drops, now: 250) == 1)
    }

    @Test("Buckets of topics are forgotten when they are full again") func memory() {
        var buckets = Buckets<Int>([Allowance(capacity: 1, refill: 1, every: 10, phase: 0)])
        for key in 0..<20_000 {
            let wait = buckets.take(key, now: UnixMilliseconds(rawValue: Int64(key)))
            #expect(wait == nil)
        }
        #expect(buckets.count < 3_000)
    }

    @Test("An invalid bucket is refused by name") func refusals() async throws {
        try await withEmulator { client in
            for (body, field) in [
                (#"{"project":[{"most":1}]}"#, "project[0].every_ms"), (#"{"project":{"every_ms":1}}"#, "project[0].most"),
                (#"{"topic":[{"most":0,"every_ms":1}]}"#, "topic[0].most"), (#"{"phones":[]}"#, ""),
            ] {
                let answer = try await client.call(.PUT, "/emulator/quotas", token: nil, body)
                #expect(answer.status == 400)
                #expect(answer.violatedFields == (field.isEmpty ? [] : [field]), "\(answer.text)")
            }
        }
    }
}

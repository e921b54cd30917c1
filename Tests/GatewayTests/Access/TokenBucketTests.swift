import NIOCore
import Testing

@testable import Gateway

@Suite("Token buckets")
struct TokenBucketTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test("A full bucket gives all its tokens at once, then one at each refill")
    func refill() {
        var buckets = TokenBuckets<String>(capacity: 600)
        for left in (0..<600).reversed() {
            let outcome = buckets.take("a", at: start)
            #expect(outcome.wait == nil && outcome.remaining == left)
        }
        #expect(buckets.take("a", at: start) == TokenOutcome(remaining: 0, reset: .minutes(1), wait: .milliseconds(100)))
        #expect(buckets.take("a", at: start + .milliseconds(99)).wait == .milliseconds(1))
        #expect(buckets.take("a", at: start + .milliseconds(100)).wait == nil)
        #expect(buckets.take("a", at: start + .milliseconds(100)).wait == .milliseconds(100))
        // A refused request costs nothing.
        for _ in 0..<1_000 { _ = buckets.take("a", at: start + .milliseconds(150)) }
        #expect(buckets.take("a", at: start + .seconds(30)).remaining == 298)
        #expect(buckets.take("a", at: start + .minutes(10)).remaining == 599)
    }

    @Test("Keys do not share a bucket")
    func keys() {
        var buckets = TokenBuckets<Int>(capacity: 1)
        #expect(buckets.take(1, at: start).wait == nil)
        #expect(buckets.take(1, at: start).wait == .minutes(1))
        #expect(buckets.take(2, at: start).wait == nil)
    }

    @Test("The stored buckets are bounded, and the emptiest ones stay")
    func bounded() {
        var buckets = TokenBuckets<Int>(capacity: 10, maxStored: 1_000)
        for _ in 0..<10 { _ = buckets.take(-1, at: start) }
        for key in 0..<100_000 {
            _ = buckets.take(key, at: start)
            #expect(buckets.stored <= 1_000)
        }
        #expect(buckets.take(-1, at: start).wait != nil)
        // A minute later all are full, so there is room for others.
        for key in 0..<1_000 { _ = buckets.take(-2 - key, at: start + .minutes(2)) }
        #expect(buckets.stored <= 1_000)
    }
}

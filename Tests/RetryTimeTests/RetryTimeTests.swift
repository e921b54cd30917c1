import Base
import HTTPTransport
import Schemas
import Testing

@testable import FCMEmulator
@testable import FCMRelay
@testable import MessageLog

/// The time of retries after each class of error: the emulator's answer, the relay's reading of it, and the message log's
/// schedule, with a test clock.
@Suite("Retry times")
struct RetryTimeTests {
    /// 2026-11-21T12:00:00Z.
    private static let start: UnixMilliseconds = 1_795_262_400_000
    private static let never: UnixMilliseconds = start + 10_000_000_000

    /// A rule, and the minimum and maximum waits in seconds before the second, third and fourth attempt.
    struct ExpectedWaits: Sendable, CustomTestStringConvertible {
        let rule: JSONValue
        let earliest: [Double]
        let latest: [Double]

        init(_ rule: JSONValue, _ earliest: [Double], _ latest: [Double]) {
            self.rule = rule
            self.earliest = earliest
            self.latest = latest
        }

        var testDescription: String { "\(rule)" }
    }

    static let expectedWaits = [
        // Ten seconds, and then twice as long each time, with a jitter of a fifth; but at least ten, as Google asks.
        ExpectedWaits(["fault": "UNAVAILABLE"], [10, 16, 32], [12, 24, 48]),
        ExpectedWaits(["fault": "UNAVAILABLE", "body": "HTML"], [10, 16, 32], [12, 24, 48]),
        ExpectedWaits(["fault": "UNAVAILABLE", "body": "EMPTY"], [10, 16, 32], [12, 24, 48]),
        ExpectedWaits(["fault": "INTERNAL"], [10, 16, 32], [12, 24, 48]),
        ExpectedWaits(["fault": "INTERNAL", "body": "HTML"], [10, 16, 32], [12, 24, 48]),
        ExpectedWaits(["fault": "INTERNAL", "body": "EMPTY"], [10, 16, 32], [12, 24, 48]),
        // Half a minute after an answer of the front end without FCM.
        ExpectedWaits(["fault": "BAD_GATEWAY"], [30, 30, 32], [36, 36, 48]),
        ExpectedWaits(["fault": "BAD_GATEWAY", "body": "EMPTY"], [30, 30, 32], [36, 36, 48]),
        // A minute for every quota.
        ExpectedWaits(["fault": "QUOTA_EXCEEDED"], [60, 60, 60], [72, 72, 72]),
        ExpectedWaits(["fault": "PROJECT_QUOTA"], [60, 60, 60], [72, 72, 72]),
        ExpectedWaits(["fault": "PROJECT_QUOTA", "body": "EMPTY"], [60, 60, 60], [72, 72, 72]),
        // FCM's Retry-After in either form, and up to a fifth later; or the own schedule if that is longer.
        ExpectedWaits(["fault": "UNAVAILABLE", "retry_after_s": .integer(45)], [45, 45, 45], [54, 54, 48]),
        ExpectedWaits(
            ["fault": "INTERNAL", "retry_after_s": .integer(45), "retry_after_form": "DATE", "body": "EMPTY"], [45, 45, 45],
            [54, 54, 48]),
        ExpectedWaits(
            ["fault": "PROJECT_QUOTA", "retry_after_s": .integer(20), "retry_after_form": "DATE"], [20, 20, 32], [24, 24, 48]),
        ExpectedWaits(["fault": "QUOTA_EXCEEDED", "retry_after_s": .integer(20)], [20, 20, 32], [24, 24, 48]),
        ExpectedWaits(["fault": "UNAVAILABLE", "retry_after_s": .integer(1)], [8, 16, 32], [12, 24, 48]),
        // A second token is refused like the first.
        ExpectedWaits(["fault": "UNAUTHENTICATED"], [8, 16, 32], [12, 24, 48]),
        ExpectedWaits(["fault": "UNAUTHENTICATED", "body": "HTML"], [8, 16, 32], [12, 24, 48]),
    ]

    @Test("Each error has its own pause, which doubles", arguments: expectedWaits)
    func pauses(expected: ExpectedWaits) async throws {
        for (random, seconds) in [(0.0, expected.earliest), (1.0, expected.latest)] {
            let waits = try await waits(seconds.count, random: random) {
                try await OrderedAnswer(rule: expected.rule).failure(at: $0).error
            }
            #expect(waits == seconds)
        }
    }

    @Test(
        "A component that is refused permanently is never tried again",
        arguments: ["INVALID_ARGUMENT", "THIRD_PARTY_AUTH_ERROR", "SENDER_ID_MISMATCH", "UNREGISTERED"])
    func permanent(fault: String) async throws {
        let error = try await OrderedAnswer(rule: ["fault": .string(fault)]).failure(at: Self.start).error
        let record = Self.answered(with: error)
        #expect(record.state == .failed && record.nextAttempt == nil)
        #expect(record.components.first?.error?.code == fault)
    }

    @Test("A request without an answer is retried with the usual backoff", arguments: TransportError.Code.allCases)
    func broken(code: TransportError.Code) async throws {
        let error = SendFailure(TransportError(code, "broken"), after: .seconds(10)).error
        // A command that the relay refused as overloaded was never sent.
        #expect(try await waits(3, random: 0) { _ in error } == (code == .overloaded ? [8, 16, 16] : [8, 16, 32]))
        #expect(try await waits(3, random: 1) { _ in error } == (code == .overloaded ? [12, 24, 24] : [12, 24, 48]))
    }

    @Test("Without an access token, the usual backoff applies if the token would come earlier")
    func noToken() async throws {
        for (pause, earliest, latest) in [(1, 8.0, 12.0), (60, 60, 72)] {
            let error = SendFailure(TokenFailure("refused", retryAfter: .seconds(pause))).error
            #expect(try await waits(1, random: 0) { _ in error } == [earliest])
            #expect(try await waits(1, random: 1) { _ in error } == [latest])
        }
    }

    @Test("No pause is longer than 12 minutes, or than an hour if FCM asks for it")
    func longest() async throws {
        let plain = try await waits(10, random: 1) {
            try await OrderedAnswer(rule: ["fault": "UNAVAILABLE"]).failure(at: $0).error
        }
        #expect(plain == [12, 24, 48, 96, 192, 384, 720, 720, 720, 720])
        let asked = try await waits(1, random: 0) {
            try await OrderedAnswer(rule: ["fault": "UNAVAILABLE", "retry_after_s": .integer(86_400)]).failure(at: $0).error
        }
        #expect(asked == [3_600])
    }

    @Test("Messages that failed together are not retried at the same moment, whether FCM said when or not")
    func spread() async throws {
        for rule: JSONValue in [["fault": "UNAVAILABLE"], ["fault": "UNAVAILABLE", "retry_after_s": .integer(30)]] {
            let error = try await OrderedAnswer(rule: rule).failure(at: Self.start).error
            let times = stride(from: 0.0, through: 1, by: 0.01).map { Self.answered(with: error, random: $0).nextAttempt }
            #expect(Set(times).count > 60, "\(rule)")
        }
    }

    @Test("No attempt is made at or after the expiry: the message expires with its last error")
    func expiry() async throws {
        for seconds in [30, 31, 3_600] {
            let error = try await OrderedAnswer(rule: ["fault": "UNAVAILABLE", "retry_after_s": .integer(seconds)])
                .failure(at: Self.start).error
            let expires = Self.start + 30_000
            var record = Self.answered(with: error, expires: expires)
            #expect(record.state == .retrying && record.nextAttempt == expires)
            record.lease = Self.lease
            record.expire(at: expires, expires: expires, owner: Self.owner)
            #expect(record.state == .expired && record.nextAttempt == nil)
            #expect(record.components.first?.error?.code == "UNAVAILABLE")
        }
    }

    @Test("A retry that FCM allows before the expiry is made before it, whatever the jitter")
    func justBeforeExpiry() async throws {
        let error = try await OrderedAnswer(rule: ["fault": "UNAVAILABLE", "retry_after_s": .integer(29)])
            .failure(at: Self.start).error
        for random in [0.0, 0.5, 1] {
            let next = try #require(Self.answered(with: error, expires: Self.start + 30_000, random: random).nextAttempt)
            #expect((Self.start + 29_000..<Self.start + 30_000).contains(next))
        }
    }

    private static let owner = "me"
    private static let lease = Lease(owner: owner, until: start)

    private static func answered(
        with error: DeliveryError, expires: UnixMilliseconds = never, random: Double = 0.5
    ) -> RelayRecord {
        var record = RelayRecord(logged: .information, due: start, lease: lease)
        let outcome = AttemptOutcome(.fcm, .answered([PartResult(part: 0, result: .failure(error))]))
        record.attempted([outcome], by: owner, at: start, expires: expires, schedule: RetrySchedule(), random: random)
        return record
    }

    /// The waits before the next attempts, in seconds, if every attempt ends with the same error.
    private func waits(
        _ count: Int, random: Double, _ error: (UnixMilliseconds) async throws -> DeliveryError
    ) async throws -> [Double] {
        var record = RelayRecord(logged: .information, due: Self.start, lease: Self.lease)
        var now = Self.start
        var waits: [Double] = []
        for _ in 0..<count {
            record.lease = Self.lease
            let outcome = AttemptOutcome(.fcm, .answered([PartResult(part: 0, result: .failure(try await error(now)))]))
            record.attempted(
                [outcome], by: Self.owner, at: now, expires: Self.never, schedule: RetrySchedule(), random: random)
            let next = try #require(record.nextAttempt)
            waits.append(Double((next - now).rawValue) / 1_000)
            now = next
        }
        return waits
    }
}

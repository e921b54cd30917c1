import FoundationEssentials
import JSON

/// What a fleet has received.
struct FleetReport: Encodable, Hashable, Sendable {
    let phones: Int
    /// For each phone, the messages since the fleet's start whose data FCM has accepted, or that wait as Alerts which phones fetch, of
    /// the topics that the phone is subscribed to at the end. A phone that joins late fetches the earlier ones.
    let expected: Int
    /// Those of ``expected`` that the phones have.
    let delivered: Int
    /// How often a phone's app has added a message once more.
    let doubled: Int
    /// Those of ``expected`` that the phones do not have.
    let missing: Int
    /// The time from a message's `timestamp` to its place in the phone's list, over the steady phones and the messages since the
    /// fleet was ready, in milliseconds; `nil` without such a message.
    let p50: Double?
    let p99: Double?
    /// The time until the last phone had the message that took longest.
    let max: Double?

    private enum CodingKeys: String, CodingKey {
        case phones, expected, delivered, doubled, missing
        case p50 = "p50_ms"
        case p99 = "p99_ms"
        case max = "max_ms"
    }

    /// The report as one line of JSON.
    var line: String {
        get throws { String(decoding: try JSONCoder.encode(self), as: UTF8.self) }
    }
}

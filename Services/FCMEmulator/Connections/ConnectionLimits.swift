import FCM
import Base

/// FCM's front end's limits for one HTTP/2 connection.
struct ConnectionLimits: Hashable, Sendable {
    /// The maximum number of concurrent streams, as in the SETTINGS.
    var streams = 100
    var excess = Excess.goAway
    /// The time without a stream after which the connection ends; `nil` for never.
    var idle: Duration? = .seconds(240)
    /// The age at which the connection ends, even if it is busy; `nil` for never.
    var age: Duration? = .seconds(3_600)
    /// The number of PINGs in a row, without a request between them, that ends the connection; `nil` for no limit.
    var pings: Int? = 3

    /// What happens to a stream above the limit.
    enum Excess: String, CaseIterable, Sendable {
        /// The whole connection ends with an error, as at FCM.
        case goAway = "GOAWAY"
        /// Only the stream is refused.
        case refuse = "REFUSED_STREAM"
    }
}

extension ConnectionLimits: ControlSection {
    /// A day, in milliseconds.
    private static let maxMilliseconds = 86_400_000

    static let form = FCMForm(
        "emulator.Connections",
        ["streams": .int32, "excess": .choice(Excess.self), "idle_ms": .int32, "age_ms": .int32, "pings": .int32])

    init(_ fields: ControlFields) throws {
        self.init()
        streams = try fields.integer("streams", in: 1...1_000_000) ?? streams
        excess = fields.choice("excess") ?? excess
        if let milliseconds = try fields.integer("idle_ms", in: 0...Self.maxMilliseconds) { idle = Self.duration(milliseconds) }
        if let milliseconds = try fields.integer("age_ms", in: 0...Self.maxMilliseconds) { age = Self.duration(milliseconds) }
        if let count = try fields.integer("pings", in: 0...1_000_000) { pings = count == 0 ? nil : count }
    }

    var document: JSONValue {
        [
            "streams": .integer(streams), "excess": .string(excess.rawValue), "idle_ms": Self.milliseconds(idle),
            "age_ms": Self.milliseconds(age), "pings": .integer(pings ?? 0),
        ]
    }

    /// 0 stands for never.
    private static func duration(_ milliseconds: Int) -> Duration? {
        milliseconds == 0 ? nil : .milliseconds(milliseconds)
    }

    private static func milliseconds(_ duration: Duration?) -> JSONValue {
        .integer(duration.map { $0 / .milliseconds(1) }.map { Int($0) } ?? 0)
    }
}

import JSON

extension ConnectionLimits: ControlSection {
    /// A day, in milliseconds.
    private static let maxMilliseconds = 86_400_000

    static let form = MessageForm(
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

import Schemas

/// How the phones' own systems treat the messages of an app that strains them: Android demotes them, iOS throttles them.
///
/// Neither publishes its exact rule, and neither tells the sender. What a phone was given is remembered for as long as a rule looks
/// back, since the emulator started or the rules were changed.
struct PlatformRules: Sendable {
    /// So many messages within a time, before a rule applies.
    struct Limit: Hashable, Sendable {
        /// 0 for a rule that never applies.
        let most: Int
        /// How far back the rule looks, in seconds.
        let window: Int64
    }

    /// What a phone makes of a message.
    enum Treatment: Hashable, Sendable {
        case asSent
        /// It comes as if it had been sent with normal priority.
        case demoted
        /// It does not come at all.
        case throttled
    }

    /// High-priority messages that show nothing to the user.
    let android: Limit
    /// Pushes that only wake the app.
    let ios: Limit
    private var phones: [Int64: [Received]] = [:]
    private(set) var demoted = 0
    private(set) var throttled = 0

    private struct Received: Sendable {
        let position: Int64
        let time: UnixMilliseconds
        let isShown: Bool
        let treatment: Treatment
    }

    /// Decides about a message that is about to be written to a phone's stream. One that is written again is treated as before.
    ///
    /// - Parameters:
    ///   - position: The message's place among all accepted ones.
    ///   - phone: The phone's row id.
    mutating func treatment(
        of message: PhoneContent, at position: Int64, for phone: Int64, on platform: Platform, now: UnixMilliseconds
    ) -> Treatment {
        let limit = platform == .android ? android : ios
        let isShown = message.notification != nil
        guard limit.most > 0, platform == .ios || message.priority == .high else { return .asSent }
        var received = phones.removeValue(forKey: phone) ?? []
        defer { phones[phone] = received }
        received.removeFirst(received.prefix { $0.time <= now - limit.window * 1_000 }.count)
        if let before = received.last(where: { $0.position == position }) { return before.treatment }
        let treatment: Treatment =
            switch platform {
            case .android: Self.isStrained(received, limit) ? .demoted : .asSent
            case .ios: !isShown && Self.isExhausted(received, limit) ? .throttled : .asSent
            }
        received.append(Received(position: position, time: now, isShown: isShown, treatment: treatment))
        if treatment == .demoted { demoted += 1 }
        if treatment == .throttled { throttled += 1 }
        return treatment
    }

    mutating func clearCounts() {
        demoted = 0
        throttled = 0
    }

    /// Whether an app has shown nothing for more high-priority messages than it may, and for more of them than it has shown.
    private static func isStrained(_ received: [Received], _ limit: Limit) -> Bool {
        let silent = received.count { !$0.isShown }
        return silent >= limit.most && silent > received.count - silent
    }

    /// Whether an app has been woken as often as it may.
    private static func isExhausted(_ received: [Received], _ limit: Limit) -> Bool {
        received.count { !$0.isShown && $0.treatment == .asSent } >= limit.most
    }
}

extension PlatformRules: ControlSection {
    static let form = MessageForm("emulator.Platforms", ["android": limit, "ios": limit])

    private static let limit = FieldForm.message(MessageForm("emulator.PlatformLimit", ["most": .int32, "window_s": .int32]))
    /// Android looks back over seven days.
    private static let week = 604_800
    private static let hour = 3_600

    init(_ fields: ControlFields) throws {
        func limit(_ name: String, window: Int) throws -> Limit {
            let own = ControlFields(fields.object[name] ?? [:], at: fields.path(of: name))
            return Limit(
                most: try own.integer("most", in: 0...1_000_000) ?? 0,
                window: Int64(try own.integer("window_s", in: 1...31_536_000) ?? window))
        }
        android = try limit("android", window: Self.week)
        ios = try limit("ios", window: Self.hour)
    }

    var document: JSONValue { ["android": android.document, "ios": ios.document] }
}

extension PlatformRules.Limit {
    fileprivate var document: JSONValue { ["most": .integer(most), "window_s": .integer(window)] }
}

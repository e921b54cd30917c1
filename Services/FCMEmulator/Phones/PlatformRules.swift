import DequeModule
import FCM
import Base
import Schemas

/// How the phones' operating systems treat the messages of an app that sends too many: Android demotes them, iOS throttles them.
///
/// Neither vendor publishes the exact rule or informs the sender. The emulator counts each phone's messages within the rule's window,
/// beginning at its start or at the last change of the rules.
struct PlatformRules: Sendable {
    /// The number of messages within a window above which a rule applies.
    struct Limit: Hashable, Sendable {
        /// 0 turns the rule off.
        let max: Int
        let window: Seconds
    }

    /// How a phone treats a message.
    enum Treatment: Hashable, Sendable {
        case asSent
        /// It arrives as if it had been sent with normal priority.
        case demoted
        /// It does not arrive.
        case throttled
    }

    /// High-priority messages that show nothing to the user.
    let android: Limit
    /// Pushes that only wake the app.
    let ios: Limit
    private var phones: [Int64: Deque<Received>] = [:]
    private(set) var demoted = 0
    private(set) var throttled = 0

    private struct Received: Sendable {
        let position: Int64
        let time: UnixMilliseconds
        let isShown: Bool
        let treatment: Treatment
    }

    /// Decides about a message before it is written to a phone's stream. A repeated message is treated as the first time.
    ///
    /// - Parameters:
    ///   - position: The message's position among all accepted messages.
    ///   - phone: The phone's row id.
    mutating func treatment(
        of message: PhoneContent, at position: Int64, for phone: Int64, on platform: Platform, now: UnixMilliseconds
    ) -> Treatment {
        let limit = platform == .android ? android : ios
        let isShown = message.notification != nil
        guard limit.max > 0, platform == .ios || message.priority == .high else { return .asSent }
        var received = phones.removeValue(forKey: phone) ?? []
        defer { phones[phone] = received }
        received.removeFirst(received.prefix { $0.time <= now - Milliseconds(limit.window) }.count)
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

    /// Whether the high-priority messages that showed nothing exceed the limit, and also outnumber those that showed something.
    private static func isStrained(_ received: Deque<Received>, _ limit: Limit) -> Bool {
        let silent = received.count { !$0.isShown }
        return silent >= limit.max && silent > received.count - silent
    }

    /// Whether the app has been woken as often as the limit allows.
    private static func isExhausted(_ received: Deque<Received>, _ limit: Limit) -> Bool {
        received.count { !$0.isShown && $0.treatment == .asSent } >= limit.max
    }
}

extension PlatformRules: ControlSection {
    static let form = FCMForm("emulator.Platforms", ["android": limit, "ios": limit])

    private static let limit = FCMForm.Field.message(FCMForm("emulator.PlatformLimit", ["most": .int32, "window_s": .int32]))
    /// Android looks back over seven days.
    private static let week: Seconds = 604_800
    private static let hour: Seconds = 3_600

    init(_ fields: ControlFields) throws {
        func limit(_ name: String, window: Seconds) throws -> Limit {
            let own = ControlFields(fields.object[name] ?? [:], at: fields.path(of: name))
            return Limit(
                max: try own.integer("most", in: 0...1_000_000) ?? 0,
                window: try own.seconds("window_s", in: 1...31_536_000) ?? window)
        }
        android = try limit("android", window: Self.week)
        ios = try limit("ios", window: Self.hour)
    }

    var document: JSONValue { ["android": android.document, "ios": ios.document] }
}

extension PlatformRules.Limit {
    fileprivate var document: JSONValue { ["most": .integer(max), "window_s": .integer(window.rawValue)] }
}

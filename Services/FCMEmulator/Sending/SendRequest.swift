import Base
import Schemas

/// A valid request to `messages:send`.
struct SendRequest: Hashable, Sendable {
    let target: Target
    /// Whether the message is only validated, not sent.
    let validateOnly: Bool
    /// How long it waits for a phone that is off.
    let timeToLive: Seconds
    /// While a phone is off, a message replaces earlier ones with the same key.
    let collapseKey: String?

    /// The component of the message that it is; `nil` without an `msi_key`.
    let component: SentComponent?

    /// Whether it may replace a pending message: it has a collapse key, and waits for the phone.
    var isCollapsible: Bool { collapseKey != nil && timeToLive > 0 }

    /// The recipient of a message.
    enum Target: Hashable, Sendable {
        case topic(String)
        case token(String)
        /// A Firebase installation id: the part of the token before the colon.
        case installation(String)
        case condition(TopicCondition)
    }
}

extension SendRequest {
    /// Reads a request's body and applies all of FCM's rules to it.
    ///
    /// - Parameter topicPayloadLimit: The maximum payload of a message to a topic or condition, in bytes.
    /// - Throws: ``GoogleError``, and nothing else.
    init(body: some Collection<UInt8>, topicPayloadLimit: Int) throws {
        let request = try FormReader.read(try JSONValue(requestBody: body), as: .sendRequest)
        guard let message = request["message"] else {
            throw GoogleError.refused("The message is not set.", field: "message")
        }
        target = try Target(of: message)
        guard message["android"] == nil || message["android_v2"] == nil else {
            throw GoogleError.refused("Only one of android and android_v2 can be set.", field: "message")
        }
        let android = AndroidConfig(of: message)
        validateOnly = request["validate_only"] == .boolean(true)
        component = (message["data"]?["msi_key"] ?? android?.data?["msi_key"])?.string.map {
            SentComponent(msiKey: $0, component: message["notification"] == nil ? .data : .notification)
        }
        collapseKey = android?.collapseKey
        timeToLive = try android.flatMap(TimeToLive.seconds) ?? TimeToLive.max
        try SendRules.check(message, android)
        try APNsRules.check(message)
        try PayloadSize.check(message, android, target: target, topicLimit: topicPayloadLimit)
    }
}

extension SendRequest.Target {
    /// Reads a message's only target.
    fileprivate init(of message: JSONValue) throws {
        let fields = ["token", "topic", "condition", "fid"]
        let set = message.members?.filter { fields.contains($0.name) } ?? []
        guard let field = set.first, let value = field.value.string, !value.isEmpty else {
            throw GoogleError.recipientMissing
        }
        guard set.count == 1 else {
            throw GoogleError.badRequest([
                FieldViolation(
                    field: "message",
                    description: "Invalid value at 'message' (oneof), oneof field 'target' is already set. "
                        + "Cannot set '\(set[1].name)'")
            ])
        }
        switch field.name {
        case "topic":
            guard TopicCondition.isTopicName(value) else { throw GoogleError.malformedTopic }
            self = .topic(value)
        case "condition":
            guard let condition = try? TopicCondition(value) else { throw GoogleError.malformedCondition }
            self = .condition(condition)
        case "fid":
            self = .installation(value)
        default:
            // The field `token` also accepts an installation's id.
            if RegistrationToken.isInstallation(value) {
                self = .installation(value)
            } else if RegistrationToken.isWellFormed(value) {
                self = .token(value)
            } else {
                throw GoogleError.malformedToken
            }
        }
    }
}

/// How long FCM keeps a message.
enum TimeToLive {
    /// FCM's maximum and default time to live: four weeks.
    static let max: Seconds = 2_419_200

    /// Whole seconds of a well-formed duration, rounded down; `nil` for a message without one.
    static func seconds(_ android: AndroidConfig) throws -> Seconds? {
        guard let duration = android.timeToLive else { return nil }
        let whole = duration.prefix { $0 != "." && $0 != "s" }
        guard !duration.hasPrefix("-"), let seconds = Int64(whole).map(Seconds.init(rawValue:)),
            seconds < max || duration.isWhole(max)
        else {
            throw GoogleError.refused(
                "Invalid ttl: it must be from 0 to \(max) seconds", field: "message.\(android.field).ttl")
        }
        return seconds
    }
}

extension String {
    /// Whether a duration is exactly this many seconds.
    fileprivate func isWhole(_ seconds: Seconds) -> Bool {
        dropLast() == seconds.description
            || hasPrefix("\(seconds).") && dropLast().drop { $0 != "." }.allSatisfy { ".0".contains($0) }
    }
}

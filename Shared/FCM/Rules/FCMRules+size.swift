import JSON
import Schemas

extension FCMRules {
    /// The maximum size of a platform's own part, in bytes.
    private static let maxPlatformBytes = 4_096

    /// Measures a message. FCM documents its formula only as "keys and values". This one counts the data and the notification's
    /// title, body and image, and each platform's own part.
    static func checkSize(
        of message: JSONValue, for recipients: [PushRecipient], limit: PayloadLimit
    ) throws(SchemaViolation) {
        let isToPhones = recipients.first?.token != nil
        let most = isToPhones ? maxPlatformBytes : limit.bytes
        // A platform's own data replaces the message's.
        let places = [message["data"], message["android"]?["data"], message["android_v2"]?["data"], message["webpush"]?["data"]]
        let bytes = places.map(textBytes).reduce(0, max) + textBytes(of: message["notification"])
        guard bytes <= most else {
            throw SchemaViolation(
                field: "message",
                problem: "data and notification have \(bytes) bytes, \(bytes - most) more than the \(most) that a message to a "
                    + "\(isToPhones ? "phone" : "topic") may have")
        }
        let platforms = [
            ("android", message["android"]), ("android_v2", message["android_v2"]), ("apns", message["apns"]),
            ("webpush", message["webpush"]),
        ]
        for (name, config) in platforms {
            let bytes = (config?.members ?? []).reduce(0) { $1.name == "data" ? $0 : $0 + $1.value.data.count }
            guard bytes <= maxPlatformBytes else {
                throw SchemaViolation(
                    field: "message.\(name)",
                    problem: "has \(bytes) bytes of JSON beside data, at most \(maxPlatformBytes) are allowed")
            }
        }
    }

    private static func textBytes(of fields: JSONValue?) -> Int {
        (fields?.members ?? []).reduce(0) { $0 + $1.name.utf8.count + ($1.value.string?.utf8.count ?? 0) }
    }
}

import FoundationEssentials
import Base
import Schemas

/// A typical push of another service to phones: a notification with data.
enum SamplePush {
    static let message: JSONValue = [
        "notification": [
            "title": "Study session", "body": "Your group for Linear Algebra meets in the library today, in room 2.17, at four.",
        ],
        "data": ["kind": "session", "id": "6b0187feff0dafac2833f431", "sender": "6b0187feff0dafac2833f432"],
        "android": ["priority": "HIGH"],
    ]

    private static let expires = UnixMilliseconds.now + 86_400_000
    private static let restOfToken = ":APA91b" + String(repeating: "Xw7fQz_9kTb", count: 12)

    /// The phones as recipients, by registration tokens as long as FCM's.
    static func recipients(_ phones: Range<Int>) -> [PushRecipient] {
        phones.map { phone in
            let number = String(phone, radix: 36)
            return .token(String(repeating: "0", count: 22 - number.count) + number + restOfToken)
        }
    }

    /// The command to the message log.
    static func command(_ idempotencyKey: String, to phones: Range<Int>, fairnessKey: String) -> LogPush {
        LogPush(
            idempotencyKey: idempotencyKey, recipients: recipients(phones), fairnessKey: fairnessKey, message: message,
            expires: expires)
    }

    /// The command to the relay for the same sends.
    static func relayed(to phones: Range<Int>) -> RelayPush {
        RelayPush(pushID: ObjectID(), recipients: recipients(phones), message: message, expires: expires)
    }

    /// Writes the body of the request to FCM for one phone into a file, for a sender without a relay.
    static func writeBody(in folder: String) throws -> String {
        var message = message
        message["token"] = recipients(0..<1).first?.token.map { .string($0) }
        let file = folder + "/push-body.json"
        try JSONValue.object([JSONValue.Member("message", message)]).data.write(to: URL(filePath: file))
        return file
    }
}

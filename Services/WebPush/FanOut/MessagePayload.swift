import FoundationEssentials
import Base
import Schemas
import WebPushKeys

/// What browsers get of a message, in Apple's declarative form, so that it shows without a service worker where that exists.
///
///     {"web_push":8030,"notification":{"title":"…","body":"…","dir":"auto","navigate":"#message/…","tag":"…"},"msi":{"msi_key":"…",…}}
///
/// A text that does not fit is shortened. The app asks the hub for the whole message.
struct MessagePayload: Sendable {
    /// The same for all subscriptions. `navigate` is completed for each of them (``PayloadTemplate``).
    let json: JSONValue

    /// The maximum length of a payload before `navigate` is completed.
    static let maxBytes = PushEncryption.maxLength - AppURL.maxLength

    init(_ command: FanOutMessage) {
        let content = command.content
        let body = content.desc.isBlank ? content.message : content.desc
        var texts = (title: content.title, body: body)
        var json = Self.json(of: command, texts)
        // The body first; it is rarely necessary at all.
        if let excess = Self.excess(of: json) {
            texts.body = texts.body.shortened(by: excess)
            json = Self.json(of: command, texts)
        }
        if let excess = Self.excess(of: json) {
            texts.title = texts.title.shortened(by: excess)
            json = Self.json(of: command, texts)
        }
        self.json = json
    }

    /// By how many bytes a payload is too long; `nil` if it is not.
    private static func excess(of json: JSONValue) -> Int? {
        let excess = json.data.count - maxBytes
        return excess > 0 ? excess : nil
    }

    private static func json(of command: FanOutMessage, _ texts: (title: String, body: String)) -> JSONValue {
        let content = command.content
        var notification: JSONValue = [
            "title": .string(texts.title), "body": .string(texts.body), "dir": "auto",
            PayloadTemplate.navigate: .string("#message/\(command.msiKey)"),
            "tag": .string(command.originalKey.description),
        ]
        if content.distribution == .information { notification["silent"] = true }
        var message: JSONValue = [
            "msi_key": .string(command.msiKey.description), "topic_key": .string(content.topicKey.description),
            "timestamp": .integer(command.timestamp.rawValue), "distribution": .string(content.distribution.rawValue),
        ]
        if let corrected = content.corrects { message["corrects"] = .string(corrected.description) }
        return ["web_push": 8_030, "notification": notification, "msi": message]
    }
}

extension FanOutMessage {
    /// The key of the message in whose place it is shown: a correction replaces what it corrects.
    var originalKey: ObjectID { content.corrects ?? msiKey }

    /// The message of its pushes.
    var webPushMessage: WebPushMessage {
        WebPushMessage(
            payload: MessagePayload(self).json, urgency: content.distribution == .alert ? .high : .low,
            topic: originalKey.description)
    }
}

extension String {
    /// A text whose JSON is shorter by a number of bytes, if it has as many: whole characters are left out at the end, with "…" in their
    /// place.
    func shortened(by bytes: Int) -> String {
        let ellipsis = "…"
        let room = jsonLength - bytes - ellipsis.utf8.count
        var (end, used) = (startIndex, 0)
        for index in indices {
            used += String(self[index]).jsonLength
            guard used <= room else { break }
            end = self.index(after: index)
        }
        var kept = self[..<end]
        while kept.last?.isWhitespace == true { kept.removeLast() }
        return kept.isEmpty ? "" : String(kept) + ellipsis
    }

    /// The length in JSON without the quotation marks.
    private var jsonLength: Int { JSONValue.string(self).data.count - 2 }
}

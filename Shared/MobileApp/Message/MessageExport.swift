public import FoundationEssentials
import Base

/// Messages as a file that outlives the app's database (seed, "Export message").
public enum MessageExport: Sendable, CaseIterable {
    case text
    case json

    /// What a text says in the student's language.
    public struct Words: Sendable {
        let alert: String
        let missing: String

        /// - Parameters:
        ///   - alert: Marks an Alert.
        ///   - missing: Stands for a text that the phone has not fetched yet.
        public init(alert: String = "Alert", missing: String = "The rest of the text is not on this phone.") {
            self.alert = alert
            self.missing = missing
        }
    }

    /// - Parameters:
    ///   - messages: In the order in which the file has them.
    ///   - words: For a text; JSON has none.
    ///   - names: The path of a topic's subject, such as `["Campus", "Weather", "Storms"]`.
    ///   - time: A moment in Unix milliseconds, as the phone writes it.
    public func file(
        of messages: [StoredMessage], words: Words = Words(), names: (_ topicKey: String) -> [String], time: (Int64) -> String
    ) throws -> Data {
        switch self {
        case .text:
            let texts = messages.map { message in
                let facts =
                    (message.isAlert ? [words.alert] : []) + [
                        names(message.topicKey).joined(separator: " › "), time(message.timestamp),
                    ]
                let missing = message.omitted.isEmpty ? "" : "[\(words.missing)]"
                let parts = [
                    message.title, facts.joined(separator: " · "), "", message.desc, message.message, missing, message.link ?? "",
                ]
                return parts.enumerated().filter { $0.offset == 2 || !$0.element.isEmpty }.map(\.element).joined(separator: "\n")
            }
            return Data((texts.joined(separator: "\n\n\n") + "\n").utf8)
        case .json:
            let documents = messages.map { message -> JSONValue in
                var document: JSONValue = [
                    "msi_key": .string(message.msiKey), "topic_key": .string(message.topicKey), "dist": .string(message.dist),
                    "title": .string(message.title), "desc": .string(message.desc), "message": .string(message.message),
                    "timestamp": .integer(message.timestamp),
                ]
                document["link"] = message.link.map { .string($0) }
                if !message.omitted.isEmpty { document["omitted"] = .array(message.omitted.map { .string($0) }) }
                return document
            }
            return try JSONCoder.encode(documents)
        }
    }
}

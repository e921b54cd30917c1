public import FoundationEssentials
import JSON

/// Messages as a file that outlives the app's database (seed, "Export message").
public enum MessageExport: Sendable, CaseIterable {
    case text
    case json

    /// - Parameters:
    ///   - messages: In the order in which the file has them.
    ///   - names: The path of a topic's subject, such as `["Campus", "Weather", "Storms"]`.
    ///   - time: A moment in Unix milliseconds, as the phone writes it.
    public func file(
        of messages: [StoredMessage], names: (_ topicKey: String) -> [String], time: (Int64) -> String
    ) throws -> Data {
        switch self {
        case .text:
            let texts = messages.map { message in
                let facts =
                    (message.isAlert ? ["Alert"] : []) + [
                        names(message.topicKey).joined(separator: " › "), time(message.timestamp),
                    ]
                let parts = [message.title, facts.joined(separator: " · "), "", message.desc, message.message]
                return parts.enumerated().filter { $0.offset == 2 || !$0.element.isEmpty }.map(\.element).joined(separator: "\n")
            }
            return Data((texts.joined(separator: "\n\n\n") + "\n").utf8)
        case .json:
            let documents = messages.map { message -> JSONValue in
                [
                    "msi_key": .string(message.msiKey), "topic_key": .string(message.topicKey), "dist": .string(message.dist),
                    "title": .string(message.title), "desc": .string(message.desc), "message": .string(message.message),
                    "timestamp": .integer(message.timestamp),
                ]
            }
            return try JSONCoder.encode(documents)
        }
    }
}

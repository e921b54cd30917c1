import Crypto
import FoundationEssentials
import JSON
package import Schemas

/// What a person has done with a message, for the audit log. Its entry is stored in the same write as the change, and stays until
/// the audit log has acknowledged it, even if the message is removed before.
package struct MessageAudit: Hashable, Sendable {
    package enum Action: String, ClosedEnum {
        case send = "message.send"
        case recall = "message.recall"
        case retry = "message.retry"
        case approve = "message.approve"
        case release = "message.release"
    }

    /// The id of the entry.
    package let id: ObjectID
    package let action: Action
    package let at: UnixMilliseconds
    package let author: AuditAuthor

    package init(
        _ action: Action, by author: AuditAuthor, id: ObjectID = ObjectID(), at: UnixMilliseconds = .now
    ) {
        self.id = id
        self.action = action
        self.at = at
        self.author = author
    }

    /// The entry: with the message's topic and the digests of its texts, but without the texts.
    package func entry(of message: Message) -> AuditEntry {
        AuditEntry(
            id: id, at: at, by: author, action: action.rawValue,
            object: AuditObject(kind: "message", id: "\(message.msiKey)"),
            after: [
                "topic_key": .string("\(message.topicKey)"),
                "sha256": [
                    "title": Self.digest(message.title), "desc": Self.digest(message.desc),
                    "message": Self.digest(message.message),
                ],
            ])
    }

    /// The entry as it is stored.
    func pending(of message: Message) throws -> PendingAuditEntry {
        let json = String(decoding: try JSONCoder.encode(entry(of: message)), as: UTF8.self)
        return PendingAuditEntry(id: id, msiKey: message.msiKey, json: json)
    }

    /// The SHA-256 of a text in UTF-8, in hexadecimal digits.
    private static func digest(_ text: String) -> JSONValue {
        .string(SHA256.hash(data: Data(text.utf8)).hexadecimal)
    }
}

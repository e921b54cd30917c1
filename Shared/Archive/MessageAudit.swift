import Crypto
import Base
package import Schemas
import Store

/// What a person has done with a message, for the audit log. Its entry is stored in the same write as the change, and stays until
/// the audit log has acknowledged it, even if the message is removed before.
package struct MessageAudit: Hashable, Sendable {
    package enum Action: String, ClosedEnum {
        case send = "message.send"
        case edit = "message.edit"
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
    /// Why, in the author's words.
    package let reason: String?

    package init(
        _ action: Action, by author: AuditAuthor, id: ObjectID = ObjectID(), at: UnixMilliseconds = .now, reason: String? = nil
    ) {
        self.id = id
        self.action = action
        self.at = at
        self.author = author
        self.reason = reason
    }

    /// The entry: with the message's topic, the digests of its texts, and the reason, but without the texts.
    package func entry(of message: Message) -> AuditEntry {
        var after: JSONValue = [
            "topic_key": .string("\(message.topicKey)"),
            "sha256": [
                "title": .string(Self.digest(message.title)), "desc": .string(Self.digest(message.desc)),
                "message": .string(Self.digest(message.message)),
            ],
        ]
        if let reason { after["reason"] = .string(reason) }
        return AuditEntry(
            id: id, at: at, by: author, action: action.rawValue,
            object: AuditObject(kind: "message", id: "\(message.msiKey)"), after: after)
    }

    /// The entry as it is stored.
    func pending(of message: Message) throws -> PendingAuditEntry {
        // Only rare entries have a reason, which may be long.
        guard reason == nil else { return try PendingAuditEntry(entry(of: message)) }
        return PendingAuditEntry(id: id, json: json(of: message))
    }

    /// The JSON of the entry, as ``JSONCoder`` writes it, but without its overhead: each message has an entry.
    private func json(of message: Message) -> String {
        var json = JSONBytes(capacity: 1_024)
        json.append(#"{"action":"#)
        json.append(text: action.rawValue)
        if let actor = author.actor {
            json.append(#","actor":"#)
            json.append(text: actor)
        }
        if let address = author.address {
            json.append(#","address":"#)
            json.append(text: address)
        }
        json.append(#","after":{"sha256":{"desc":"#)
        json.append(text: Self.digest(message.content.desc))
        json.append(#","message":"#)
        json.append(text: Self.digest(message.content.message))
        json.append(#","title":"#)
        json.append(text: Self.digest(message.content.title))
        json.append(#"},"topic_key":"#)
        json.append(message.content.topicKey)
        json.append(#"},"at":"#)
        json.append(at.rawValue)
        json.append(#","id":"#)
        json.append(id)
        json.append(#","object":{"id":"#)
        json.append(message.msiKey)
        json.append(#","kind":"message"}}"#)
        return String(decoding: json.data(), as: UTF8.self)
    }

    /// The SHA-256 of a text in UTF-8, in hexadecimal digits.
    private static func digest(_ text: String) -> String {
        var hash = SHA256()
        var text = text
        text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize().hexadecimal
    }

    /// The entry's insertion into the queue.
    func insertion(about message: Message) throws -> AuditInsertion {
        ArchiveAudit.declaration.insertion(of: try pending(of: message))
    }
}

/// The archive's queue of entries for the audit log. In SQLite an entry is added in the transaction of its change. MongoDB's archive
/// writes single documents, without transactions: there the entry is in the message's document first, and is moved into the queue.
enum ArchiveAudit {
    static let declaration = StoreDeclaration("message-log", audited: true)
}

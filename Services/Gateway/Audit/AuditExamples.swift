import JSON
import JSONSchema
package import Schemas

extension NumberedAuditEntry: HasExample {
    package static var example: NumberedAuditEntry {
        NumberedAuditEntry(
            number: 17, hash: String(repeating: "9f86d081884c7d65", count: 4),
            entry: AuditEntry(
                id: TopicKey.exampleTopic.subject, at: .exampleTime, by: AuditAuthor(actor: "ann", address: "192.0.2.7"),
                action: UpdateChannel.name, object: AuditObject(kind: "channel", id: "\(TopicKey.exampleTopic.channel)"),
                before: ["name": "Campus", "desc": "", "access": []], after: ["name": "University", "desc": "", "access": []]))
    }
}

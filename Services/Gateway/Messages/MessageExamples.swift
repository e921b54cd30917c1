package import JSON
import JSONSchema
package import Schemas
import Time

// The documents of messages in the API's document.

extension MessagePost: HasExample {
    package static var example: MessagePost { MessagePost(.example) }
}

extension MessageDraft {
    static var example: MessageDraft {
        MessageDraft(
            title: "Campus closed", desc: "Please stay at home", message: "All lectures of today are cancelled.",
            topicKey: .exampleTopic, distribution: .alert, ttl: 86_400)
    }
}

extension Message: HasExample {
    package static var example: Message {
        Message(
            id: TopicKey.exampleTopic.channel, msiKey: TopicKey.exampleTopic.subject, draft: .example, sender: "ann",
            timestamp: .exampleTime, names: CubeNames(channel: "Campus", area: "Weather", subject: "Storms"),
            expires: .exampleTime + .seconds(86_400),
            relay: RelayRecord(
                state: .relayed, attempts: 1, nextAttempt: nil, ended: .exampleTime + .seconds(1),
                components: [.notification, .data].map {
                    ComponentRecord(
                        component: $0, state: .accepted, name: "projects/campus/messages/0:1795262462412009%b611fad5",
                        acceptedAt: .exampleTime + .seconds(1))
                }))
    }
}

extension MessageTemplate.Draft: HasExample {
    package static var example: MessageTemplate.Draft {
        MessageTemplate.Draft(
            name: "Room moved", title: "{{course}} moves", desc: "To {{room}}", message: "{{course}} is in {{room}} today.")
    }
}

extension MessageTemplate: HasExample {
    package static var example: MessageTemplate { MessageTemplate(id: TopicKey.exampleTopic.channel, in: (), draft: .example) }
}

extension UnixMilliseconds {
    static var exampleTime: UnixMilliseconds { 1_795_262_462_399 }
}

extension UnixMilliseconds: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "description": "A point in time, in milliseconds since 1970-01-01 UTC.",
            "examples": [.integer(exampleTime.rawValue)],
        ]
    }
}

package import Base
package import Schemas

extension MessagePost: HasExample {
    package static var example: MessagePost { MessagePost(.example) }
}

extension MessagePost: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "title": ["description": "Required without a template."],
                "desc": ["description": "The pop-up's text. Required without a template; it may be empty for Information."],
                "message": ["description": "Required without a template."],
                "topic_key": ["description": "The subject."],
                "distribution": [
                    "description": "That of the subject. Another one is an error: the sender's form shows an old cube."
                ],
                "ttl": ["description": "For how many seconds the message is worth delivering after it goes out."],
                "send_at": ["description": "When the message goes out, at most a year ahead; not together with `delay`."],
                "delay": ["description": "Seconds until the message goes out. Until then it can be recalled."],
                "drill": ["description": "Whether it is a test, which its title then says at the start."],
                "follows": [
                    "description":
                        "The `msi_key` of an earlier message that this one continues or ends. The caller may send to its subject."
                ],
                "correction": [
                    "description":
                        "Whether it corrects the message in `follows`, whose subject it has: phones show it in that one's place."
                ],
                "options": ["description": "How FCM and the phones treat it."],
                "template": ["description": "A template with the texts."],
                "template_revision": [
                    "description":
                        "The revision of the template whose texts the sender has seen: the number in its `ETag`. Another one is an error."
                ],
                "values": ["description": "The texts for the template's blanks, by their names."],
            ],
            // The texts, or a template with the values for its blanks.
            "if": ["required": ["template"]],
            "then": ["not": ["anyOf": [["required": ["title"]], ["required": ["desc"]], ["required": ["message"]]]]],
            "else": [
                "required": ["title", "desc", "message"],
                "not": ["anyOf": [["required": ["values"]], ["required": ["template_revision"]]]],
            ],
            "allOf": [
                ["not": ["required": ["delay", "send_at"]]],
                [
                    "if": ["properties": ["correction": ["const": true]], "required": ["correction"]],
                    "then": ["required": ["follows"]],
                ],
                [
                    "if": ["properties": ["distribution": ["const": "Alert"]]],
                    "then": ["properties": ["desc": ["pattern": .string(TextCharacters.text.pattern(mayBeBlank: false))]]],
                ],
            ],
        ]
    }
}

extension MessageContent {
    static var example: MessageContent {
        MessageContent(
            title: "Campus closed", desc: "Please stay at home", message: "All lectures of today are cancelled.",
            topicKey: .exampleTopic, distribution: .alert, ttl: 86_400)
    }
}

extension Message: HasExample {
    package static var example: Message {
        Message(
            id: TopicKey.exampleTopic.channel, msiKey: TopicKey.exampleTopic.subject, content: .example, sender: "ann",
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

extension Message: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "msi_key": ["description": "The message's identifier."],
                "sender": ["description": "The account that sent it."],
                "names": ["description": "The names of channel, area and subject when it was sent."],
                "expires": ["description": "When it expires."],
                "traceparent": [
                    "description":
                        "The W3C trace context of the post: its trace id is the `X-Request-Id`, and in the log lines of each attempt."
                ],
                "relay": ["description": "The progress of its delivery."],
            ]
        ]
    }
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

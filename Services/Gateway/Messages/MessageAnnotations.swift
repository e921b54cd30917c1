package import JSON
import JSONSchema
package import Schemas

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
                "follows": ["description": "The `msi_key` of an earlier message that this one continues or ends."],
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

extension HistoryQuery: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "limit": ["description": "The number of messages of a page; 50 by default."],
                "before": ["description": "Where the page begins: from `next` of the previous one."],
                "channel": ["description": "Only messages of this channel."],
                "area": ["description": "Only messages of this area."],
                "subject": ["description": "Only messages of this subject."],
                "sender": ["description": "Only messages of this account."],
                "state": ["description": "Only messages whose `relay` is in this state."],
                "from": ["description": "Only messages with a `timestamp` from this time on."],
                "to": ["description": "Only messages with a `timestamp` before this time."],
                "q": [
                    "description":
                        "Only messages with all of these words in their texts. `exam*` stands for every word that begins so."
                ],
                "trace_id": [
                    "description": "Only messages that the request with this `X-Request-Id` has posted.",
                    // No trace has it.
                    "not": ["pattern": "^0*$"],
                ],
                "format": ["description": "`csv` for a CSV file of all messages that match; `limit` and `before` do not apply."],
            ]
        ]
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

import JSON
import JSONSchema
import Schemas

/// The parameters of `GET /statistics`.
struct StatisticsQuery: Decodable, Sendable {
    private let channel: ObjectID?
    private let area: ObjectID?
    private let subject: ObjectID?
    private let edges: TimeEdges?
    private let by: CountMessages.Time?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case channel, area, subject, edges, by
    }

    var command: CountMessages {
        CountMessages(
            channel: channel, area: area, subject: subject, edges: edges?.times ?? [], by: by ?? .timestamp)
    }
}

extension StatisticsQuery: SchemaAnnotated {
    static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "channel": ["description": "Only messages of this channel."],
                "area": ["description": "Only messages of this area."],
                "subject": ["description": "Only messages of this subject."],
                "edges": ["description": "The edges of the spans of time; without them there are no spans."],
                "by": [
                    "description": "The time that puts a message into a span: when it was logged (the default), or when it ended."
                ],
            ]
        ]
    }
}

package import JSON
import JSONSchema
package import Schemas

extension MessageStatistics: HasExample {
    package static var example: MessageStatistics {
        var statistics = MessageStatistics(edges: TimeEdges(TimeEdges.example)?.times ?? [])
        statistics.states[.relayed] = 9
        statistics.states[.failed] = 1
        statistics.buckets[0].states[.relayed] = 4
        statistics.buckets[1].states[.relayed] = 2
        return statistics
    }
}

extension MessageStatistics: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        [
            "properties": [
                "states": ["description": "All messages that match, also those outside the spans."],
                "scheduled": [
                    "description": "How many of the pending messages go out only at a later time, by their `send_at` or `delay`."
                ],
                "oldest_waiting": [
                    "description":
                        "The oldest message that is pending or retrying and not scheduled for later; absent if there is none."
                ],
                "buckets": ["description": "One for each span between two edges."],
            ]
        ]
    }
}

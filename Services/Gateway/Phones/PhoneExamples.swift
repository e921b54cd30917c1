package import JSON
import JSONSchema
package import Schemas

// The documents of phones in the API's document.

extension AddReceipts: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        let keys: JSONValue = ["maxItems": .integer(Int64(maxMessages))]
        return ["properties": ["received": keys, "opened": keys]]
    }
}

extension ReadAccepted: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        ["properties": ["topics": ["minItems": 1, "maxItems": .integer(maxTopics)]]]
    }
}

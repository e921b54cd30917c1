package import JSON
import JSONSchema
package import Schemas

// The documents of phones in the API's document.

extension ReadAccepted: SchemaAnnotated {
    package static var schemaAnnotations: JSONValue {
        ["properties": ["topics": ["minItems": 1, "maxItems": .integer(maxTopics)]]]
    }
}

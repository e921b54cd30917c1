package import JSON

/// A type that says more about its JSON Schema than its coding and its checks show.
package protocol SchemaAnnotated {
    /// Keywords that are merged into the recorded schema: a description, the descriptions of properties, or rules about several
    /// properties, such as `if` and `then`.
    static var schemaAnnotations: JSONValue { get }
}

/// A type with a realistic value for the documentation.
package protocol HasExample: Encodable {
    static var example: Self { get }
}

extension JSONValue {
    /// The object with the other's fields. Objects in both are merged; any other field of `other` replaces this one's.
    package func merging(_ other: JSONValue) -> JSONValue {
        guard members != nil, let added = other.members else { return other }
        return added.reduce(into: self) { result, member in
            result[member.name] = result[member.name].map { $0.merging(member.value) } ?? member.value
        }
    }
}

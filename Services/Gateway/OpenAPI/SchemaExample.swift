import Base
import HTTPTypes

/// Makes example documents from schemas.
struct SchemaExample {
    /// The schemas by their names.
    let components: JSONValue

    /// A valid document: the type's own example, or one of its parts' examples.
    func document(for schema: JSONValue) -> JSONValue { document(for: schema, depth: 0) }

    private func document(for schema: JSONValue, depth: Int) -> JSONValue {
        if let example = schema["examples"]?.elements?.first ?? schema["example"] { return example }
        if let name = schema.componentName { return components[name].map { document(for: $0, depth: depth) } ?? .null }
        if let value = schema["enum"]?.elements?.first { return value }
        switch schema["type"]?.string {
        case "object": return object(schema, depth)
        case "array":
            // A type that contains itself ends here.
            guard depth < 6, let items = schema["items"] else { return [] }
            return [document(for: items, depth: depth + 1)]
        case "integer", "number": return schema["minimum"] ?? 1
        case "boolean": return false
        default: return .string(String(repeating: "x", count: Int(schema["minLength"]?.integer ?? 1)))
        }
    }

    private func object(_ schema: JSONValue, _ depth: Int) -> JSONValue {
        let required = Set(schema["required"]?.elements?.compactMap(\.string) ?? [])
        let properties = (schema["properties"]?.members ?? []).filter { depth < 4 || required.contains($0.name) }
        return .object(properties.map { .init($0.name, document(for: $0.value, depth: depth + 1)) })
    }
}

extension JSONValue {
    /// The name of the schema that this one refers to.
    var componentName: String? { self["$ref"]?.string?.split(separator: "/").last.map(String.init) }
}

extension JSONValue {
    /// The document of an API with an example of each JSON body and answer.
    var withExamples: JSONValue {
        let examples = SchemaExample(components: self["components"]?["schemas"] ?? [:])
        var document = self
        document["paths"] = self["paths"]?.mapValues { path in
            path.mapValues { operation in
                var operation = operation
                operation["requestBody"] = operation["requestBody"]?.withExample(from: examples)
                operation["responses"] = operation["responses"]?.mapValues { $0.withExample(from: examples) }
                return operation
            }
        }
        return document
    }

    /// A body or an answer with an example of its JSON.
    private func withExample(from examples: SchemaExample) -> JSONValue {
        guard let schema = self["content"]?["application/json"]?["schema"] else { return self }
        return merging(["content": ["application/json": ["example": examples.document(for: schema)]]])
    }

    private func mapValues(_ transform: (JSONValue) -> JSONValue) -> JSONValue {
        .object((members ?? []).map { Member($0.name, transform($0.value)) })
    }
}

extension Problem {
    /// A problem document for the API's document.
    static func example(_ kind: ProblemKind) -> JSONValue {
        [
            "type": .string(kind.type), "title": .string(kind.title), "status": .integer(kind.status.code),
            "detail": .string(kind.title), "request_id": "0aa793834948af74b5ad4da61c7ec718",
        ]
    }
}

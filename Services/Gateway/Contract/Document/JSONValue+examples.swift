import JSON
import JSONSchema

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

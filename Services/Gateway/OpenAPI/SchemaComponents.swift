import Base

/// The schemas of the types in requests and answers, under one name each.
///
/// A type whose schema differs in requests and answers has two: that of requests has the ending `Input`.
struct SchemaComponents {
    private let components: [String: JSONValue]
    /// The names in a document, by the names of the recorders.
    private let names: [String: String]

    /// - Parameters: The components of both recorders.
    init(requests: [String: JSONValue], answers: [String: JSONValue]) {
        func withoutDirection(_ schema: JSONValue) -> JSONValue {
            schema.replacingReferences { String($0.split(separator: ":").last ?? "") }
        }
        var different = Set(
            requests.filter { name, schema in answers[name].map { withoutDirection($0) != withoutDirection(schema) } ?? false }
                .keys)
        // A schema differs as well if one that it refers to differs.
        var isGrowing = true
        while isGrowing {
            let more = requests.filter { name, schema in
                answers[name] != nil && !different.contains(name) && schema.references.contains { different.contains($0) }
            }
            different.formUnion(more.keys)
            isGrowing = !more.isEmpty
        }
        let isDifferent = different
        names = Dictionary(
            requests.keys.map { ("request:\($0)", isDifferent.contains($0) ? $0 + "Input" : $0) }
                + answers.keys.map { ("answer:\($0)", $0) }
        ) { one, _ in one }
        components = answers.merging(
            requests.map { (isDifferent.contains($0) ? $0 + "Input" : $0, $1) }
        ) { answer, _ in answer }
    }

    /// The document with the components, and with references to them.
    func completing(_ document: JSONValue) -> JSONValue {
        var document = document
        document["components"]?["schemas"] = .object(components.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
        return document.replacingReferences { "#/components/schemas/\(names[$0] ?? $0)" }
    }
}

extension JSONValue {
    private static let prefix = "#/components/schemas/"

    /// The value with other references to schemas.
    ///
    /// - Parameter replace: Gets the recorder's name of a schema.
    fileprivate func replacingReferences(_ replace: (String) -> String) -> JSONValue {
        switch self {
        case .object(let members):
            .object(
                members.map { member in
                    guard member.name == "$ref", let reference = member.value.string, reference.hasPrefix(Self.prefix) else {
                        return Member(member.name, member.value.replacingReferences(replace))
                    }
                    return Member(member.name, .string(replace(String(reference.dropFirst(Self.prefix.count)))))
                })
        case .array(let elements): .array(elements.map { $0.replacingReferences(replace) })
        default: self
        }
    }

    /// The names of the schemas that it refers to, without the recorder's prefix.
    fileprivate var references: Set<String> {
        var names: Set<String> = []
        _ = replacingReferences { name in
            names.insert(String(name.split(separator: ":").last ?? ""))
            return name
        }
        return names
    }
}

import Base

/// The parts of the document that several operations refer to.
final class DocumentParts {
    let requests = SchemaRecorder(.request)
    let answers = SchemaRecorder(.answer)
    private let problem: JSONValue
    private var problemAnswers: [String: JSONValue] = [:]

    /// - Throws: `UnrecordableType`.
    init() throws {
        problem = try answers.schema(of: Problem.Document.self)
    }

    /// The answer with one of these kinds of problems, which have the same status.
    func answer(with kinds: [ProblemKind]) -> JSONValue {
        [
            "description": .string(kinds.map(\.title).joined(separator: " ")),
            "headers": AnswerHeader.json([.requestID] + (kinds.contains { $0.retryAfter != nil } ? [.retryAfter] : [])),
            "content": [
                "application/problem+json": [
                    "schema": ["allOf": [problem, ["properties": ["type": ["enum": .array(kinds.map { .string($0.type) })]]]]],
                    "examples": .object(
                        kinds.map { .init($0.rawValue, ["$ref": .string("#/components/examples/\($0.rawValue)")]) }),
                ]
            ],
        ]
    }

    /// A reference to ``answer(with:)``.
    func reference(toAnswerWith kinds: [ProblemKind]) -> JSONValue {
        let name = kinds.map(\.rawValue).joined(separator: ".")
        problemAnswers[name] = answer(with: kinds)
        return ["$ref": .string("#/components/responses/\(name)")]
    }

    /// The document with the parts that were referred to.
    ///
    /// - Parameter document: Without components.
    func completing(_ document: JSONValue) -> JSONValue {
        let all = document.merging([
            "components": [
                "responses": .object(problemAnswers.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
                "securitySchemes": Operation.securitySchemes,
                "examples": .object(ProblemKind.allCases.map { .init($0.rawValue, ["value": Problem.example($0)]) }),
            ]
        ])
        return SchemaComponents(requests: requests.components, answers: answers.components).completing(all).withExamples
    }
}

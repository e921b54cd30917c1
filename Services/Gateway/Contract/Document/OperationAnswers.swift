import HTTPTypes
import JSON
import JSONSchema

/// The answers of a route by their statuses, as OpenAPI's `responses`.
struct OperationAnswers {
    private var responses: [JSONValue.Member] = []

    /// - Throws: `UnrecordableType`, or ``UndocumentedRoute``.
    init(of route: Route, _ parts: DocumentParts) throws {
        try add(route.answer, headers: route.documentation?.answerHeaders ?? [], parts)
        for other in route.documentation?.otherAnswers ?? [] { try add(other, headers: [], parts) }
        for (status, kinds) in Dictionary(grouping: route.problems, by: \.status.code).sorted(by: { $0.key < $1.key }) {
            if let known = place(of: status) {
                responses[known].value = responses[known].value.merging(parts.answer(with: kinds))
            } else {
                responses.append(.init(String(status), parts.reference(toAnswerWith: kinds)))
            }
        }
    }

    var json: JSONValue { .object(responses) }

    private mutating func add(_ form: AnswerForm, headers: [AnswerHeader], _ parts: DocumentParts) throws {
        var response: JSONValue = [
            "description": .string(form.status.reasonPhrase), "headers": AnswerHeader.json([.requestID] + headers),
        ]
        if let mediaType = form.mediaType {
            response["content"] = .object([.init(mediaType, ["schema": try Self.schema(of: form, parts)])])
        }
        if let known = place(of: form.status.code) {
            responses[known].value = responses[known].value.merging(response)
        } else {
            responses.append(.init(String(form.status.code), response))
        }
    }

    private func place(of status: Int) -> Int? { responses.firstIndex { $0.name == String(status) } }

    private static func schema(of form: AnswerForm, _ parts: DocumentParts) throws -> JSONValue {
        guard let document = form.document else {
            return ["type": form.mediaType == "application/json" ? "object" : "string"]
        }
        guard let type = document as? any Decodable.Type else {
            throw UndocumentedRoute(problem: "\(document) is not Decodable")
        }
        return try parts.answers.schema(of: type)
    }
}

/// A route that the API's document cannot describe.
struct UndocumentedRoute: Error, CustomStringConvertible {
    let problem: String
    var description: String { problem }
}

extension AnswerHeader {
    /// Headers as OpenAPI describes them.
    static func json(_ headers: [AnswerHeader]) -> JSONValue {
        .object(
            headers.map { header in
                .init(
                    header.name.rawName,
                    [
                        "description": .string(header.description), "schema": ["type": "string"],
                        "example": .string(header.example),
                    ])
            })
    }
}

import Base
import HTTPTypes

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
            let isJSON = form.mediaType.map { $0.hasSuffix("/json") || $0.hasSuffix("+json") } ?? false
            return ["type": isJSON ? "object" : "string"]
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

extension Route {
    /// All kinds of problems that the route can answer with: those of every route, those that follow from its declaration, and its
    /// own.
    var problems: [ProblemKind] {
        var kinds = Set(Self.problemsOfEveryRoute + (documentation?.problems ?? []))
        // Also where no credential is needed: a bearer token that is given must be valid.
        if right != .anonymous { kinds.insert(.unauthenticated) }
        if right.requiresCredential { kinds.insert(.forbidden) }
        if isConfirmed { kinds.insert(.confirmationRequired) }
        if !pathParameters.isEmpty { kinds.insert(.notFound) }
        if body != nil { kinds.formUnion([.invalidJSON, .bodyTooLarge, .unsupportedMediaType]) }
        for header in documentation?.headers ?? [] { kinds.formUnion(header.problems) }
        if callsServices {
            kinds.formUnion([.serviceUnavailable, .serviceTimeout])
            if method != .get { kinds.insert(.storageFull) }
        }
        return ProblemKind.allCases.filter(kinds.contains)
    }

    /// Problems of the connection, the head and the number of requests, of a browser's page, and failures.
    private static let problemsOfEveryRoute: [ProblemKind] = [
        .malformedRequest, .invalidField, .originRefused, .insecureConnection, .requestTimeout, .headersTooLarge,
        .tooManyRequests, .overloaded, .internalError,
    ]

    private var callsServices: Bool { documentation?.callsServices ?? true }
}

import HTTPTypes
import Base
import Schemas

/// A route as an operation of OpenAPI.
struct Operation {
    /// As OpenAPI writes it: `/area/{channelID}/{areaID}`.
    let path: String
    let json: JSONValue

    /// - Throws: `UnrecordableType`, or ``UndocumentedRoute``.
    init(_ route: Route, in section: APISection, _ parts: DocumentParts) throws {
        let segments = route.segments.map { segment in
            switch segment {
            case .fixed(let text): "/\(text)"
            case .parameter(let name): "/{\(name)}"
            }
        }
        path = segments.isEmpty ? "/" : segments.joined()
        let documentation = route.documentation
        var operation: JSONValue = [
            "operationId": .string(Self.identifier(documentation?.summary ?? "")),
            "tags": [.string(section.title)],
            "summary": .string(documentation?.summary ?? ""),
        ]
        if let details = documentation?.details, !details.isEmpty { operation["description"] = .string(details) }
        operation["security"] = Self.security(of: route)
        if route.isConfirmed { operation["x-confirmed"] = true }
        let parameters = try Self.parameters(of: route, parts.requests)
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if route.body == TextBody.self {
            operation["requestBody"] = [
                "required": true,
                "content": .object([
                    .init(TextBody.mediaType, ["schema": ["type": "string", "minLength": 1], "example": "Campus closed"])
                ]),
            ]
        } else if let body = route.body {
            operation["requestBody"] = [
                "required": .boolean(!route.isBodyOptional),
                "content": ["application/json": ["schema": try parts.requests.schema(of: body)]],
            ]
        }
        operation["responses"] = try OperationAnswers(of: route, parts).json
        json = operation
    }

    /// A name for generated clients: `sendMessage` for "Send a message".
    private static func identifier(_ summary: String) -> String {
        let words = summary.lowercased().split { !$0.isLetter && !$0.isNumber }.filter {
            !["a", "an", "the", "one"].contains($0)
        }
        return words.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }.joined()
    }

    // MARK: Security

    static let securitySchemes: JSONValue = [
        "token": [
            "type": "http", "scheme": "bearer",
            "description": "A token of `POST /token`, or that of the file `token` in the state directory.",
        ],
        "session": [
            "type": "apiKey", "in": "cookie", "name": "msi_session",
            "description": """
            The cookie of `POST /session`. Over TLS its name is `__Host-msi_session`; without TLS the name has the URL's port at its \
            end: `msi_session_8080`.
            """,
        ],
        "device": [
            "type": "http", "scheme": "bearer",
            "description":
                "The token of a person's device, of `PUT /user` or `POST /user/token`. It counts for these routes alone.",
        ],
    ]

    private static func security(of route: Route) -> JSONValue {
        switch route.right {
        case .anonymous: [[:]]
        case .anyone: [[:], ["token": []], ["session": []]]
        case .partlySignedIn, .signedIn: [["token": []], ["session": []]]
        case .person: [["device": []]]
        case .read, .send, .administer:
            [["token": [.string(route.right.rawValue)]], ["session": [.string(route.right.rawValue)]]]
        }
    }

    // MARK: Parameters

    private static func parameters(of route: Route, _ requests: SchemaRecorder) throws -> [JSONValue] {
        let path: [JSONValue] = try route.pathParameters.map { name in
            let type = route.documentation?.path[name] ?? ObjectID.self
            return ["name": .string(name), "in": "path", "required": true, "schema": try requests.schema(of: type)]
        }
        let query = try route.query.map { try requests.inlineObject(of: $0) } ?? []
        let headers: [JSONValue] = (route.documentation?.headers ?? []).map { header in
            [
                "name": .string(header.name.rawName), "in": "header", "required": false,
                "description": .string(header.description), "schema": header.schema, "example": .string(header.example),
            ]
        }
        return path
            + query.map { ["name": .string($0.name), "in": "query", "required": .boolean($0.isRequired), "schema": $0.schema] }
            + headers
    }
}

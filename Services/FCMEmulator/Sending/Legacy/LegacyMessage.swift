import JSON

/// A request to the legacy HTTP API, `fcm.googleapis.com/fcm/send`, whose shutdown began in 2024.
struct LegacyMessage: Hashable, Sendable {
    /// The maximum number of tokens in one call.
    static let maxTokens = 1_000

    let recipients: Recipients
    /// The message in the HTTP v1 form, without its target.
    private let content: [JSONValue.Member]
    /// Whether the message is only validated, not sent.
    let isDryRun: Bool

    enum Recipients: Hashable, Sendable {
        case tokens([String])
        case topic(String)
        case condition(String)
    }

    /// The message to one recipient, as a request body of the HTTP v1 API.
    ///
    /// - Parameters:
    ///   - field: `token`, `topic` or `condition`.
    func document(_ field: String, _ recipient: String) -> JSONValue {
        [
            "validate_only": .boolean(isDryRun),
            "message": .object([.init(field, .string(recipient))] + content),
        ]
    }
}

extension LegacyMessage {
    /// Reads a request's body. Unknown fields are ignored, as that API did.
    ///
    /// - Throws: ``LegacyRefusal``.
    init(body: some Collection<UInt8>) throws {
        let request: JSONValue
        do {
            request = try JSONValue(parsing: body, rules: .google)
        } catch {
            throw LegacyRefusal(
                "JSON_PARSING_ERROR: \(error.googleDescription(ofBytes: body.count)) at position \(error.position)")
        }
        guard request.members != nil else { throw LegacyRefusal("JSON_PARSING_ERROR: Expected an object.") }
        recipients = try Recipients(of: request)
        isDryRun = request["dry_run"] == true
        content = try LegacyTranslation(request: request).message
    }
}

extension LegacyMessage.Recipients {
    fileprivate init(of request: JSONValue) throws {
        let to = request["to"]?.string
        if let ids = request["registration_ids"] {
            guard to == nil else { throw LegacyRefusal("Must use either \"registration_ids\" field or \"to\", not both") }
            guard let elements = ids.elements, case let tokens = elements.compactMap(\.string), tokens.count == elements.count
            else { throw LegacyRefusal("Field \"registration_ids\" must be a JSON array of strings") }
            guard !tokens.isEmpty else { throw LegacyRefusal("\"registration_ids\" field cannot be empty") }
            guard tokens.count <= LegacyMessage.maxTokens else {
                throw LegacyRefusal(
                    "Number of messages on bulk (\(tokens.count)) exceeds maximum allowed (\(LegacyMessage.maxTokens))")
            }
            self = .tokens(tokens)
        } else if let condition = request["condition"]?.string {
            self = .condition(condition)
        } else if let to {
            let prefix = "/topics/"
            self = to.hasPrefix(prefix) ? .topic(String(to.dropFirst(prefix.count))) : .tokens([to])
        } else {
            throw LegacyRefusal("to")
        }
    }
}

/// The refusal of a whole call, with HTTP status 400 and a line of text.
struct LegacyRefusal: Error, Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

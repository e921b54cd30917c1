import HTTPTypes
import Base
import Schemas

/// A request to subscribe phones to a topic or to unsubscribe them: `{"to":"/topics/T","registration_tokens":[…]}`.
struct TopicBatch: Hashable, Sendable {
    /// The maximum number of tokens in one call.
    static let maxTokens = 1_000

    let topic: String
    let tokens: [String]

    /// - Throws: ``InstanceIDError``.
    init(body: some Collection<UInt8>) throws {
        guard let document = try? JSONValue(parsing: body, rules: .google), document.members != nil else {
            throw InstanceIDError(.badRequest, "The request's body is not a JSON object")
        }
        guard let to = document["to"]?.string else {
            throw InstanceIDError(.badRequest, "Missing or malformed field: to")
        }
        let prefix = "/topics/"
        guard to.hasPrefix(prefix), case let name = to.dropFirst(prefix.count), TopicCondition.isTopicName(name) else {
            throw InstanceIDError(.badRequest, "Invalid topic: expected /topics/ and a name of [a-zA-Z0-9-_.~%]{1,900}")
        }
        guard let elements = document["registration_tokens"]?.elements,
            case let tokens = elements.compactMap(\.string), tokens.count == elements.count
        else { throw InstanceIDError(.badRequest, "Missing or malformed field: registration_tokens") }
        guard (1...Self.maxTokens).contains(tokens.count) else {
            throw InstanceIDError(
                .badRequest, "registration_tokens: expected 1 to \(Self.maxTokens) tokens, found \(tokens.count)")
        }
        topic = String(name)
        self.tokens = tokens
    }
}

/// The refusal of a whole call to the Instance ID service: `{"error":"…"}`.
struct InstanceIDError: Error, Hashable {
    let status: HTTPResponse.Status
    let message: String

    init(_ status: HTTPResponse.Status, _ message: String) {
        self.status = status
        self.message = message
    }

    static let unknown = InstanceIDError(.notFound, "No information found about this instance id.")
}
